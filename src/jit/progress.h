// src/jit/progress.h: tells a user at a terminal what a compiler takes long for.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace pardo::jit {

/// While it lives, a compiler works on a kernel of that name, and pardo::compilations() says so. After PARDO_PROGRESS seconds the sink of
/// pardo::set_progress_sink hears of it, then every second until it is over; without a sink there is no thread.
class Progress {
public:
    struct Running {
        std::string name, device;
        std::chrono::steady_clock::time_point start;
    };

    explicit Progress(std::string_view name, std::string_view device = {});
    ~Progress();
    Progress(const Progress&) = delete;

private:
    struct Teller;
    std::list<Running>::iterator running_;
    std::unique_ptr<Teller> teller_;
};

}  // namespace pardo::jit
