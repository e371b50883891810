"""An LSTM that learns to continue a text, character by character.

python lstm_text.py --device opencl:0
"""

import argparse
from pathlib import Path

import tensorx as torch
import tensorx.nn.functional as F
from tensorx import nn


class CharLSTM(nn.Module):
    def __init__(self, vocabulary, width=96):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 32)
        self.lstm = nn.LSTM(32, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, idx, state=None):
        y, state = self.lstm(self.embedding(idx), state)
        return self.head(y), state


def write(model, letters, count, device):
    """Sample ``count`` characters after the first letter of the text."""
    idx, state, out = torch.zeros(1, 1, dtype=torch.long, device=device), None, []
    with torch.no_grad():
        for _ in range(count):
            logits, state = model(idx, state)
            idx = torch.multinomial(F.softmax(logits[:, -1] / 0.7, -1), 1)
            out.append(letters[idx.item()])
    return "".join(out)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--text", default=Path(__file__).with_name("story.txt"), help="a file to learn from")
    parser.add_argument("--write", type=int, default=200, help="characters to write at the end")
    args = parser.parse_args(argv)
    torch.manual_seed(args.seed)
    text = Path(args.text).read_text(encoding="utf-8")
    letters = sorted(set(text))
    data = torch.tensor([letters.index(c) for c in text], device=args.device)
    rows, length = 16, 32
    stream = data[: len(data) // rows * rows].view(rows, -1)  # 16 places of the text are read at once
    model = CharLSTM(len(letters)).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses, state, at = [], None, 0
    for step in range(1, args.steps + 1):
        if at + length + 1 > stream.shape[1]:
            at, state = 0, None
        x, y = stream[:, at : at + length], stream[:, at + 1 : at + length + 1]
        at += length
        logits, state = model(x, state)
        state = tuple(s.detach() for s in state)  # gradients end here: truncated backpropagation through time
        loss = F.cross_entropy(logits.transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 0 or step == args.steps:
            print(f"step {step}: loss {losses[-1]:.3f}")
    print(write(model, letters, args.write, args.device))
    return losses


if __name__ == "__main__":
    main()
