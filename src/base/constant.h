// src/base/constant.h: tables that are made when they are first asked for.
#pragma once

#include <atomic>
#include <memory>

namespace pardo {

/// A constant that stays until the process is gone. Threads that ask at once make one each, and one of these stays: with a static of a
/// function's own, a child that is forked while another thread makes it would wait for that thread for ever.
template <class T> class Constant {
public:
    template <class F> const T& get(F&& make) {
        if (const T* known = made_.load(std::memory_order_acquire)) return *known;
        auto fresh = std::make_unique<const T>(make());
        const T* before = nullptr;
        return made_.compare_exchange_strong(before, fresh.get(), std::memory_order_acq_rel) ? *fresh.release() : *before;
    }

private:
    std::atomic<const T*> made_{nullptr};
};

}  // namespace pardo
