// src/jit/progress.h: tells a user at a terminal what a compiler takes long for.
#pragma once

#include <memory>
#include <string_view>

namespace pardo::jit {

/// While it lives, a compiler works on a kernel of that name. After PARDO_PROGRESS seconds the sink of pardo::set_progress_sink hears of
/// it, then every second until it is over; without a sink there is no thread and nothing to pay.
class Progress {
public:
    explicit Progress(std::string_view name);
    ~Progress();
    Progress(const Progress&) = delete;

private:
    struct Teller;
    std::unique_ptr<Teller> teller_;
};

}  // namespace pardo::jit
