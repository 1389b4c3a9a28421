# SPDX-License-Identifier: Apache-2.0
"""A network learns to balance a pole on a cart from rewards alone (REINFORCE, Williams 1992).

The carts are those of Barto, Sutton and Anderson 1983, many side by side in one tensor. An episode
ends when the pole leans over by more than 12 degrees or the cart leaves the track.

    python examples/policy.py
"""

import libdl
from libdl import Tensor, nn
from libdl.distributions import Categorical

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print

CARTS, STEPS, UPDATES = 64, 200, 60
GRAVITY, POLE, HALF, FORCE, TOTAL, SECONDS = 9.8, 0.1, 0.5, 10.0, 1.1, 0.02


def advance(state: Tensor, actions: Tensor) -> Tensor:
    """The carts' positions, speeds, angles and angular speeds after a push to the left or right."""
    x, speed, angle, turning = state.unbind(1)
    push = (FORCE * (2 * actions - 1) + POLE * HALF * turning.square() * angle.sin()) / TOTAL
    fall = GRAVITY * angle.sin() - angle.cos() * push
    fall = fall / (HALF * (4 / 3 - POLE * angle.cos().square() / TOTAL))
    push = push - POLE * HALF * fall * angle.cos() / TOTAL
    change = libdl.stack([speed, push, turning, fall], dim=1)
    return state + SECONDS * change


def episodes(policy: nn.Module) -> tuple[Tensor, Tensor]:
    """The log probability of each step's action, and whether the pole was up: [STEPS, CARTS]."""
    state = 0.1 * libdl.rand(CARTS, 4) - 0.05
    up = libdl.ones(CARTS)
    log_probs, rewards = [], []
    for _ in range(STEPS):
        choice = Categorical(logits=policy(state))
        actions = choice.sample()
        log_probs.append(choice.log_prob(actions) * up)
        rewards.append(up)
        state = advance(state, actions)
        inside = (state[:, 0].abs() < 2.4) & (state[:, 2].abs() < 0.21)
        # Carts that failed stay where they are, so that no number grows without bound.
        up = up * inside
        state = state * up.unsqueeze(1)
    return libdl.stack(log_probs), libdl.stack(rewards)


def main() -> None:
    libdl.manual_seed(1)
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = libdl.optim.Adam(policy.parameters(), lr=0.01)
    for update in trange(UPDATES + 1):
        log_probs, rewards = episodes(policy)
        # What is still to come at each step, against what the other carts get there on average.
        to_come = rewards.flip(0).cumsum(0).flip(0)
        alive = rewards.sum(1, keepdim=True).clamp(min=1)
        advantage = to_come - to_come.sum(1, keepdim=True) / alive
        if update % 20 == 0:
            tell(f"update {update}: {rewards.sum(0).mean().item():.0f} steps of {STEPS}")
        optimizer.zero_grad()
        loss = -(log_probs * advantage / STEPS).sum() / rewards.sum()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
