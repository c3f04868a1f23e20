"""What a GRPOTrainer must be set to for verdicts to mean what they say. All of it is known before a rollout starts."""

from __future__ import annotations

from ._allot import largest_group

# These divide by tokens whose mask is 1. The others divide by rows, and a row that is not trained on is still a row.
TOKEN_DENOMINATORS = ("dapo", "cispo", "vespo")


def check_policy(policy: str, parameters: dict[str, str], group_size: int) -> None:
    bound = largest_group(policy, parameters, group_size)
    if bound is None:
        raise ValueError("the policy may start any number of rollouts in a group, but TRL gives a group "
                         f"num_generations = {group_size} rows: write a literal or a param behind `up to` in its "
                         "`size` handler")
    if bound > group_size:
        raise ValueError(f"the policy may start {bound} rollouts in a group, but TRL gives a group num_generations = "
                         f"{group_size} rows: raise num_generations and group_size, or lower what `size` says")


def check_arguments(args, *, slots: int, group_size: int, temperature: float) -> None:
    """args: a GRPOConfig."""
    if args.world_size > 1:
        raise ValueError(f"one engine per run: this adapter works in one process, not in {args.world_size}")
    if args.num_generations != group_size:
        raise ValueError(f"num_generations is {args.num_generations}, but the driver's group_size is {group_size}: "
                         "make them equal")
    if args.generation_batch_size != slots * group_size:
        raise ValueError(f"TRL generates {args.generation_batch_size} rows at once, but the driver has {slots} slots "
                         f"of {group_size} = {slots * group_size} rows: set per_device_train_batch_size * "
                         "steps_per_generation to that")
    if args.steps_per_generation * args.num_iterations % args.gradient_accumulation_steps != 0:
        raise ValueError("several generations would share one optimiser step: set gradient_accumulation_steps to a "
                         "divisor of steps_per_generation * num_iterations")
    whole = args.loss_type == "bnpo" and args.steps_per_generation == 1
    if args.loss_type not in TOKEN_DENOMINATORS and not whole:
        raise ValueError(f"loss_type \"{args.loss_type}\" divides by rows, so rows that the policy dropped would still "
                         f"weigh: use one of {', '.join(TOKEN_DENOMINATORS)} (or bnpo "
                         "with steps_per_generation=1)")
    if args.temperature != temperature:
        raise ValueError(f"TRL's temperature is {args.temperature}, the driver writes with {temperature}: make them "
                         "equal")
    if args.use_vllm:
        raise ValueError("use_vllm is set, but the driver writes with the model itself: unset it")


def check_trainer(trainer) -> None:
    if len(trainer.reward_funcs) != 1:
        raise ValueError("TRL would score stubs with the other reward functions: give reward_funcs=driver.rewards "
                         "alone, and add up rewards in the driver's own reward function")
    if trainer.tools:
        raise ValueError("with tools TRL ignores env_mask: let the environment understand the calls instead")
    if not trainer.model.training:
        raise ValueError("TRL asks for an evaluation, which a policy has no part in: set eval_strategy=\"no\"")
