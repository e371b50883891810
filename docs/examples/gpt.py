"""A small transformer that writes one character after another, in the manner of GPT.

python gpt.py --device opencl:0
"""

import argparse
from pathlib import Path

import tensorx as torch
import tensorx.nn.functional as F
from tensorx import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary, block=64, width=64, heads=4, layers=2):
        super().__init__()
        self.block = block
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(block, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, idx):
        x = self.tokens(idx) + self.positions(torch.arange(idx.shape[1], device=idx.device))
        return self.head(self.ln(self.blocks(x)))

    @torch.no_grad()
    def generate(self, idx, count):
        for _ in range(count):
            logits = self(idx[:, -self.block :])[:, -1]
            idx = torch.cat([idx, torch.multinomial(F.softmax(logits, -1), 1)], 1)
        return idx


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--text", default=Path(__file__).with_name("story.txt"), help="a file to learn from")
    parser.add_argument("--write", type=int, default=200, help="characters to write at the end")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    text = Path(args.text).read_text(encoding="utf-8")
    letters = sorted(set(text))
    data = torch.tensor([letters.index(c) for c in text], device=args.device)
    model = GPT(len(letters)).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    losses = []
    for step in range(1, args.steps + 1):
        starts = torch.randint(len(data) - model.block, (16, 1), device=args.device)
        window = data[starts + torch.arange(model.block + 1, device=args.device)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 0 or step == args.steps:
            print(f"step {step}: loss {losses[-1]:.3f}")
    written = model.generate(data[:1].view(1, 1), args.write)[0].tolist()
    print("".join(letters[i] for i in written))
    return losses


if __name__ == "__main__":
    main()
