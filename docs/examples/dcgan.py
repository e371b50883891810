"""Two convolutional networks against each other on 8x8 digits (DCGAN, Radford et al. 2015).

python dcgan.py --device opencl:0
"""

import argparse

import tensorx as torch
import tensorx.nn.functional as F
from tensorx import nn
from tensorx.data import digits
from tensorx.utils.data import DataLoader

LATENT = 16


def generator():
    return nn.Sequential(
        nn.ConvTranspose2d(LATENT, 64, 2, bias=False),  # 2 x 2
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1, bias=False),  # 4 x 4
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1),  # 8 x 8
        nn.Sigmoid(),
    )


def discriminator():
    return nn.Sequential(
        nn.Conv2d(1, 32, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(32, 64, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(64),
        nn.LeakyReLU(0.2),
        nn.Conv2d(64, 1, 2),
        nn.Flatten(0),
    )


def weights_init(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(m.weight, 0.0, 0.02)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    train, _ = digits.load(args.device)
    G, D = generator().to(args.device), discriminator().to(args.device)
    G.apply(weights_init)
    D.apply(weights_init)
    optG = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
    optD = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
    losses = []  # of the discriminator
    while len(losses) < args.steps:
        for real, _ in DataLoader(train, batch_size=64, shuffle=True, drop_last=True):
            fake = G(torch.randn(len(real), LATENT, 1, 1, device=args.device))
            on_real, on_fake = D(real), D(fake.detach())
            lossD = F.binary_cross_entropy_with_logits(on_real, torch.ones_like(on_real))
            lossD = lossD + F.binary_cross_entropy_with_logits(on_fake, torch.zeros_like(on_fake))
            optD.zero_grad()
            lossD.backward()
            optD.step()
            judged = D(fake)
            lossG = F.binary_cross_entropy_with_logits(judged, torch.ones_like(judged))
            optG.zero_grad()
            lossG.backward()
            optG.step()
            losses.append(lossD.item())
            if len(losses) % 100 == 0 or len(losses) == args.steps:
                print(f"step {len(losses)}: discriminator {losses[-1]:.3f}, generator {lossG.item():.3f}")
            if len(losses) == args.steps:
                break
    return losses


if __name__ == "__main__":
    main()
