"""Loads a remapped checkpoint strictly into the plain class and reads the held-out digits.

  python check.py clean.safetensors        (or .pt)

Exit status 0 if the network reads exactly as many digits as train.py printed.
"""

import json
import pathlib
import sys

import torch
from sklearn.datasets import load_digits
from torch import nn


class DigitsNet(nn.Module):
    """The class one wants to load the weights into: other names than the training script's."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 2)
        x = torch.relu(self.bn2(self.conv2(x)))
        return self.fc(x.mean(dim=(2, 3)))


def load(path):
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file

        return load_file(path)
    return torch.load(path, weights_only=True, mmap=True)


def main():
    network = DigitsNet()
    network.load_state_dict(load(sys.argv[1]), strict=True)
    network.eval()
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    with torch.no_grad():
        guess = network(images[1400:]).argmax(1)
    right = int((guess == torch.tensor(data.target[1400:])).sum())
    expected = json.loads((pathlib.Path(__file__).parent / "accuracy.json").read_text())
    print(f"loaded strictly; {right} of {len(guess)} held-out digits read correctly")
    return 0 if right == expected["right"] else 1


if __name__ == "__main__":
    sys.exit(main())
