#pragma once

#include <functional>
#include <string>

// Goes on in a child process, which is the rank. This process only waits for it, hands signals on
// and ends as the child does. A rank that is killed can say nothing, so this process tells of it,
// and ends with status 1, whereupon mpirun ends the job with that status. Without mpirun, or the
// like, nothing is done.
void supervise_rank(const std::function<void(const std::string&)>& tell);
