#!/usr/bin/env python3
"""Programs that go through a file in chunks, on a file and on one many times as large: time in proportion, memory by the chunk.

  python3 bench/stream.py DATA.jsonl [--tercet build/release/bin/tercet] [--times 50] [--memory 192M]

DATA has one JSON object a line with a `text`. The large file is its texts again and again, each time with other words at their ends.
Prints wall and processor time and the largest resident memory, without and with a bound on arrays (--memory); then what reading the
large file as a whole says under that bound.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def measured(title, command):
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    print(f"{title:44} {time.monotonic() - begin:6.2f} s, processors {used.ru_utime + used.ru_stime:6.2f} s, at most {used.ru_maxrss // 1024:4} MB: "
          + out.strip().split("\n")[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--tercet", default="build/release/bin/tercet")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--memory", default="192M")
    options = parser.parse_args()
    texts = [json.loads(line)["text"].replace("\n", " ") for line in open(options.data, encoding="utf-8")]
    with tempfile.TemporaryDirectory() as folder:
        small, large = f"{folder}/once.txt", f"{folder}/again.txt"
        with open(small, "w", encoding="utf-8") as file:
            file.writelines(text + "\n" for text in texts)
        with open(large, "w", encoding="utf-8") as file:
            for k in range(options.times):
                file.writelines(f"{text} variant{k} item{i * k % 1000}\n" for i, text in enumerate(texts))
        print(f"{os.path.getsize(small) / 1e6:.1f} MB, and {os.path.getsize(large) / 1e6:.1f} MB in {options.times * len(texts):,} lines")
        for name in ("stream_counts", "stream_tf_idf"):
            program = str(HERE / f"{name}.tct")
            measured(name, [options.tercet, program, small])
            measured(f"{name}, {options.times} times as large", [options.tercet, program, large])
            measured(f"- with --memory {options.memory}", [options.tercet, "--memory", options.memory, program, large])
        measured(f"read_lines with --memory {options.memory}", [options.tercet, "--memory", options.memory, "-e", f'len(read_lines("{large}"))'])


if __name__ == "__main__":
    main()
