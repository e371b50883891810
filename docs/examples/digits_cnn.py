"""A convolutional network with batch norm on 8x8 images of handwritten digits.

python digits_cnn.py --device opencl:0
"""

import argparse

import tensorx as torch
import tensorx.nn.functional as F
from tensorx import nn
from tensorx.data import digits
from tensorx.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(x.flatten(1))


def accuracy(model, dataset):
    model.eval()
    images, labels = dataset.tensors
    with torch.no_grad():
        correct = (model(images).argmax(1) == labels).sum().item()
    model.train()
    return correct / len(dataset)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    train, test = digits.load(args.device)
    model = Net().to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    while len(losses) < args.steps:
        for images, labels in DataLoader(train, batch_size=64, shuffle=True):
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if len(losses) % 50 == 0 or len(losses) == args.steps:
                print(f"step {len(losses)}: loss {losses[-1]:.4f}, test accuracy {accuracy(model, test):.3f}")
            if len(losses) == args.steps:
                break
    return losses


if __name__ == "__main__":
    main()
