// src/device/queue/library_state.h: what other libraries keep with a native stream: handles, workspaces, plans.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace pardo::device {

/// State of one library for one stream. Destroyed before the stream, with the device's context current.
class LibraryState {
public:
    virtual ~LibraryState() = default;
};

/// The states of one stream, one of each type, made at first use. Not safe between threads: a stream's submissions come one at a time.
class LibraryStates {
public:
    /// The state of type T, made of `args` if there is none; if its constructor throws there is none.
    template <class T, class... Args> T& get(Args&&... args) {
        for (const Slot& slot : slots_) {
            if (slot.type == &type<T>) return static_cast<T&>(*slot.state);
        }
        slots_.push_back({&type<T>, std::make_unique<T>(std::forward<Args>(args)...)});
        return static_cast<T&>(*slots_.back().state);
    }
    void clear() noexcept { slots_.clear(); }
    /// Forgets the states without ending them: their libraries' calls would reach a driver that is gone.
    void abandon() noexcept {
        for (Slot& slot : slots_) (void)slot.state.release();
        slots_.clear();
    }

private:
    struct Slot {
        const void* type;
        std::unique_ptr<LibraryState> state;
    };
    template <class T> static constexpr char type = 0;  // its address tells types apart

    std::vector<Slot> slots_;
};

}  // namespace pardo::device
