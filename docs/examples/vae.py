"""A variational autoencoder of 8x8 digits (Kingma and Welling 2013).

python vae.py --device opencl:0
"""

import argparse

import tensorx as torch
import tensorx.nn.functional as F
from tensorx import nn
from tensorx.data import digits
from tensorx.utils.data import DataLoader


class VAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU())
        self.mean = nn.Linear(128, latent)
        self.logvar = nn.Linear(128, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x):
        h = self.encoder(x)
        mean, logvar = self.mean(h), self.logvar(h)
        z = mean + torch.exp(0.5 * logvar) * torch.randn_like(mean)
        return self.decoder(z), mean, logvar


def loss_function(logits, x, mean, logvar):
    reconstruction = F.binary_cross_entropy_with_logits(logits, x.flatten(1), reduction="sum")
    divergence = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())
    return (reconstruction + divergence) / len(x)


def show(image):
    """An image as text."""
    shades = " .:-=+*#%@"
    return "\n".join("".join(2 * shades[min(int(v * 10), 9)] for v in row) for row in image.view(8, 8).tolist())


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    train, _ = digits.load(args.device)
    model = VAE().to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    while len(losses) < args.steps:
        for images, _ in DataLoader(train, batch_size=128, shuffle=True):
            logits, mean, logvar = model(images)
            loss = loss_function(logits, images, mean, logvar)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if len(losses) % 200 == 0 or len(losses) == args.steps:
                print(f"step {len(losses)}: loss {losses[-1]:.3f}")
            if len(losses) == args.steps:
                break
    with torch.no_grad():
        print(show(model.decoder(torch.randn(1, 8, device=args.device)).sigmoid().cpu()))
    return losses


if __name__ == "__main__":
    main()
