"""The policy of allocation.allot in the words of other languages, and its inputs. Each peer may be missing."""
import importlib

HIT, MISS = 0.6931471805599453, -1.0986122886681098  # log(p1/p0), log((1-p1)/(1-p0))
ARGUMENTS = (12, 3.5, 4, 2, 0.05)

SOURCE = f"""
def decide(t, d, s, f, cost):
    if t >= 8 and d < 0.15 * t:
        return 0
    llr = s * {HIT} + f * ({MISS})
    if llr >= 2.89:
        return 1
    if llr <= -2.25:
        return 2
    n = s + f + 2.0
    if (s + 1.0) * (f + 1.0) / (n * n * (n + 1.0)) * 16.0 < cost:
        return 3
    return 4
"""

CEL = ("t >= 8 && d < 0.15 * double(t) ? 0 : "
       f"double(s) * {HIT} + double(f) * ({MISS}) >= 2.89 ? 1 : "
       f"double(s) * {HIT} + double(f) * ({MISS}) <= -2.25 ? 2 : "
       "(double(s) + 1.0) * (double(f) + 1.0) / ((double(s + f) + 2.0) * (double(s + f) + 2.0) * (double(s + f) + 3.0))"
       " * 16.0 < cost ? 3 : 4")

# What a front end would hand to LLVM.
IR = """
define i32 @decide(i32 %t, double %d, i32 %s, i32 %f, double %cost) {
entry:
  %late = icmp sge i32 %t, 8
  %td = sitofp i32 %t to double
  %bound = fmul double %td, 0x3FC3333333333333
  %close = fcmp olt double %d, %bound
  %stop = and i1 %late, %close
  br i1 %stop, label %r0, label %a
a:
  %sd = sitofp i32 %s to double
  %fd = sitofp i32 %f to double
  %l1 = fmul double %sd, 0x3FE62E42FEFA39EF
  %l2 = fmul double %fd, 0xBFF193EA7AAD030B
  %llr = fadd double %l1, %l2
  %up = fcmp oge double %llr, 0x40071EB851EB851F
  br i1 %up, label %r1, label %b
b:
  %down = fcmp ole double %llr, 0xC002000000000000
  br i1 %down, label %r2, label %c
c:
  %sf = fadd double %sd, %fd
  %n = fadd double %sf, 2.0
  %s1 = fadd double %sd, 1.0
  %f1 = fadd double %fd, 1.0
  %top = fmul double %s1, %f1
  %nn = fmul double %n, %n
  %n1 = fadd double %n, 1.0
  %bot = fmul double %nn, %n1
  %v = fdiv double %top, %bot
  %v16 = fmul double %v, 16.0
  %less = fcmp olt double %v16, %cost
  %code = select i1 %less, i32 3, i32 4
  ret i32 %code
r0:
  ret i32 0
r1:
  ret i32 1
r2:
  ret i32 2
}
"""


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def python_function():
    space = {}
    exec(SOURCE, space)
    return space["decide"]


def states(np, count, seed=13):
    """Columns of `count` groups: turn, mean distance, hits, misses, cost."""
    rng = np.random.default_rng([seed, count])
    t = rng.integers(1, 200, count).astype(np.int32)
    n = rng.integers(0, 33, count)
    s = rng.binomial(n, rng.beta(0.8, 0.8, count)).astype(np.int32)
    return {"t": t, "d": (t * rng.beta(2, 3, count)).astype(np.float64), "s": s, "f": (n - s).astype(np.int32),
            "cost": rng.uniform(0.0, 0.2, count)}


def numpy_batch(np, t, d, s, f, cost):
    llr = s * HIT + f * MISS
    n = s + f + 2.0
    variance = (s + 1.0) * (f + 1.0) / (n * n * (n + 1.0)) * 16.0
    return np.select([(t >= 8) & (d < 0.15 * t), llr >= 2.89, llr <= -2.25, variance < cost], [0, 1, 2, 3],
                     4).astype(np.int8)


def polars_batch(pl, columns):
    frame, c = pl.DataFrame(columns), pl.col
    llr = c("s") * HIT + c("f") * MISS
    n = c("s") + c("f") + 2.0
    rule = (pl.when((c("t") >= 8) & (c("d") < 0.15 * c("t"))).then(0).when(llr >= 2.89).then(1)
            .when(llr <= -2.25).then(2)
            .when((c("s") + 1.0) * (c("f") + 1.0) / (n * n * (n + 1.0)) * 16.0 < c("cost")).then(3).otherwise(4))
    return lambda: frame.lazy().select(rule.sum()).collect().item()


def numba_batch(numba):
    decide = numba.njit(cache=False)(python_function())

    @numba.njit(cache=False)
    def loop(t, d, s, f, cost, out):
        for i in range(len(t)):
            out[i] = decide(t[i], d[i], s[i], f[i], cost[i])

    @numba.njit(cache=False)
    def flat(t, d, s, f, cost, out):
        for i in range(len(t)):
            llr = s[i] * HIT + f[i] * MISS
            n = s[i] + f[i] + 2.0
            last = 3 if (s[i] + 1.0) * (f[i] + 1.0) * 16.0 < cost[i] * (n * n * (n + 1.0)) else 4
            code = 2 if llr <= -2.25 else last
            code = 1 if llr >= 2.89 else code
            out[i] = 0 if (t[i] >= 8) & (d[i] < 0.15 * t[i]) else code

    return loop, flat


def cel_cpp(cel):
    kinds = cel.Type
    env = cel.NewEnv(variables={"t": kinds.INT, "d": kinds.DOUBLE, "s": kinds.INT, "f": kinds.INT, "cost": kinds.DOUBLE})
    program = env.compile(CEL)
    return lambda t, d, s, f, cost: program.eval(data={"t": t, "d": d, "s": s, "f": f, "cost": cost}).value()


def cel_rust(cel):
    program = cel.compile(CEL)
    return lambda t, d, s, f, cost: program.execute({"t": t, "d": d, "s": s, "f": f, "cost": cost})


def llvm_compiler(llvm):
    """IR to machine code at O2, as short as llvmlite allows."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()

    def run():
        module = llvm.parse_assembly(IR)
        module.verify()
        machine = target.create_target_machine(opt=2)
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return engine.get_function_address("decide")
    return run
