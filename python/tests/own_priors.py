"""Priors in Python, beside the C++ ones that they copy."""

import numpy as np


class LogWalk:
    """log x_t = persistence log x_t-1 + noise e_t: log-gaussian, without its scale."""

    name = "log-walk"
    num_statistics = 4

    def __init__(self, num_components, persistence=0.9, noise=0.3):
        self.num_components = self.state_size = num_components
        self.persistence, self.noise = persistence, noise

    def sample_initial(self, random, n):
        spread = self.noise / np.sqrt(1 - self.persistence**2)
        return spread * random.normal(self.state_size)

    def sample_transition(self, random, states):
        return self.persistence * states + self.noise * random.normal(self.state_size)

    def activations(self, states):
        return np.exp(states)

    def log_transition(self, previous, next):
        error = (next - self.persistence * previous) / self.noise
        return -0.5 * (error**2 + np.log(2 * np.pi * self.noise**2)).sum(axis=1)

    def statistics(self, previous, next):
        return np.stack([np.ones(len(next)), (previous**2).mean(axis=1),
                         (previous * next).mean(axis=1), (next**2).mean(axis=1)], axis=1)

    def parameters(self):
        return {"persistence": self.persistence, "noise": self.noise}

    def set_parameter(self, name, value):
        if name == "persistence" and -1 < value < 1:
            self.persistence = value
        elif name == "noise" and value > 0:
            self.noise = value
        else:
            raise ValueError(f"{name} = {value}: no such parameter, or out of range")

    def maximise(self, sums):
        n, before, product, after = sums
        if n > 0 and before > 0:
            self.persistence = float(np.clip(product / before, -0.9999, 0.9999))
            left = after - 2 * self.persistence * product + self.persistence**2 * before
            self.noise = float(np.sqrt(max(left / n, 1e-12)))


class OnOff:
    """basis-selection, as a finite chain."""

    name = "on-off"

    def __init__(self, num_components, stay_off=0.9, stay_on=0.7):
        self.num_components = num_components
        self.stay_off, self.stay_on = stay_off, stay_on

    def finite_chain(self):
        transition = [[self.stay_off, 1 - self.stay_off], [1 - self.stay_on, self.stay_on]]
        return [([[0.0], [1.0]], transition)] * self.num_components

    def parameters(self):
        return {"stay_off": self.stay_off, "stay_on": self.stay_on}

    def set_parameter(self, name, value):
        if name not in ("stay_off", "stay_on") or not 0 < value < 1:
            raise ValueError(f"{name} = {value}: no such parameter, or out of range")
        setattr(self, name, value)

    def maximise(self, moves):
        n = moves.reshape(-1, 2, 2).sum(axis=0)
        if n[0].sum() > 0:
            self.stay_off = float(n[0, 0] / n[0].sum())
        if n[1].sum() > 0:
            self.stay_on = float(n[1, 1] / n[1].sum())
