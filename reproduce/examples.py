"""The two examples of the paper, sec. 4: priors and how the paper runs them."""

M, K = 8, 5
EXAMPLE1 = ["--prior", "basis-selection", "--set", "stay_off=0.8571", "--set", "stay_on=0.6926"]
EXAMPLE2 = ["--prior", "relaxed-selection", "--set", "alpha=0.95"]
HOLD1 = ["--hold", "stay_off", "--hold", "stay_on"]
HOLD2 = ["--hold", "alpha"]
# gamma_t = t^-0.8, t_b = 100, the last iterate, statistics as the paper prints them.
AS_PRINTED = ["--step", "power:0.8", "--burn-in", 100, "--average", "none", "--paper-exact"]
ALGORITHM1 = ["--engine", "particle", "--smoother", "path", "--particles", 1000,
              "--resample-below", 1]
