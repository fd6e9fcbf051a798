"""A stand-in for a program with knobs: its loss is a sum, so that it is plain what should be found."""

import argparse
import json
import os
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--dropout", type=float, default=0.0)
parser.add_argument("--norm", action="store_true")
parser.add_argument("--fast", action="store_true")
parser.add_argument("--exact", action="store_true")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--config", type=Path)
parser.add_argument("--out", type=Path)
args = parser.parse_args()

config = json.loads(args.config.read_text())
assert config["lr"] == args.lr  # noqa: S101 - both ways say the same
loss = 10 * args.lr + args.dropout + (not args.norm) + 2 * args.fast + (os.environ["ACTIVATION"] == "relu")
args.out.write_text(json.dumps({"result": {"loss": loss}}))
print(f"loss={loss}")
