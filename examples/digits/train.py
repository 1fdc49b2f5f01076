"""Trains a small network on scikit-learn's digits the way people do: DDP and torch.compile.

Writes three files that hold the same weights, beside this script:

  whole.pt         torch.save(wrapped model): needs this script's class to be loaded by torch
  training.pt      {'epoch', 'model_state_dict', 'optimizer_state_dict', 'args': Namespace}
  whole_legacy.pt  the whole object in the form from before PyTorch 1.6

and accuracy.json: what the network reached on the held-out digits. The files are committed; run
this only to make them again (it needs torch and scikit-learn): python train.py
"""

import argparse
import json
import os
import pathlib

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel

HERE = pathlib.Path(__file__).parent


class Block(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class ResearchNet(nn.Module):
    """The class that only this script has."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.ModuleDict({"block_1": Block(1, 16), "block_2": Block(16, 32)})
        self.classifier = nn.Linear(32, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.backbone["block_1"](x), 2)
        x = self.backbone["block_2"](x)
        return self.classifier(x.mean(dim=(2, 3)))


def digits():
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(data.target)
    return (images[:1400], labels[:1400]), (images[1400:], labels[1400:])


def main():
    args = argparse.Namespace(lr=0.01, epochs=60, batch=100, seed=7)
    torch.manual_seed(args.seed)
    torch.distributed.init_process_group("gloo", rank=0, world_size=1)
    model = torch.compile(DistributedDataParallel(ResearchNet()), backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    (images, labels), (test_images, test_labels) = digits()
    for _ in range(args.epochs):
        for at in torch.randperm(len(images)).split(args.batch):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[at]), labels[at]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(test_images).argmax(1) == test_labels).sum().item()
    print(f"{right} of {len(test_labels)} held-out digits read correctly")

    torch.save(model, HERE / "whole.pt")
    torch.save(model, HERE / "whole_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(
        {
            "epoch": args.epochs,
            "model_state_dict": model.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "args": args,
        },
        HERE / "training.pt",
    )
    (HERE / "accuracy.json").write_text(json.dumps({"right": right, "of": len(test_labels)}) + "\n")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    main()
