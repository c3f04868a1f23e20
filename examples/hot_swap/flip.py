"""Changes one value of one decision in the journal of RUN, with a checksum that fits. Usage: flip.py RUN

Only asking the policy again can find it: nothing is wrong with the line as a line.
"""

import json
import pathlib
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def flip_one_value(arm):
    """What the first decision by a first rule had read, plus 0.5. Gives the line; none where there is no such decision."""
    segment = sorted((arm / "journal").glob("*.jsonl"))[0]
    lines = segment.read_text().splitlines()
    for number, line in enumerate(lines):
        record = json.loads(line)
        read = record["reads"][0] if record["k"] == "ask" and record["g"] >= 0 and record["reads"] else None
        if not isinstance(read, float) or record.get("r", 0) != 0:
            continue
        record["reads"][0] = read + 0.5
        del record["crc"]
        body = json.dumps(record, separators=(",", ":"), ensure_ascii=False)[:-1]
        lines[number] = f'{body},"crc":"{crc32c(body.encode()):08x}"}}'
        segment.write_text("\n".join(lines) + "\n")
        return number + 1
    return None


if __name__ == "__main__":
    where = flip_one_value(next(pathlib.Path(sys.argv[1]).glob("**/journal")).parent)
    print(f"line {where} says another thing now" if where else "no record to flip was found")
