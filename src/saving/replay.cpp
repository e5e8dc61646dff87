// src/saving/replay.cpp: calls of the library's routines, from what a file says of them.
#include "saving/replay.h"

#include <pardo/error.h>

#include <mutex>
#include <set>

#include "base/fork.h"
#include "base/view_bounds.h"
#include "device/event.h"
#include "routines/routines.h"

namespace pardo::saving {
namespace {

/// A text that stays: those of programs are few, and the same.
const char* lasting(const std::string& text) {
    static std::mutex& mutex = []() -> std::mutex& {
        auto& made = *new std::mutex;
        renew_at_fork(made);
        return made;
    }();
    static auto& all = *new std::set<std::string>;
    const std::lock_guard lock(mutex);
    return all.insert(text).first->c_str();
}

/// Gives the fields of one call.
class Saved final : public routines::Fields {
public:
    Saved(const saved::Program& program, const saved::RoutineCall& call, std::span<const std::int64_t> values,
          const std::function<Place(std::uint32_t)>& place_of)
        : program_(program), call_(call), values_(values), place_of_(place_of) {}

    void choice(std::uint64_t& value, std::uint64_t last) override {
        value = next(call_.choices, choices_);
        require(value <= last);
    }
    void count(std::uint64_t& value) override {
        value = next(call_.choices, choices_);
        require(value <= call_.choices.size() + call_.numbers.size());
    }
    void number(std::int64_t& value) override { value = next(call_.numbers, numbers_).in(values_); }
    void real(double& value) override { value = next(call_.reals, reals_).in(values_); }
    void text(const char*& value) override { value = lasting(next(call_.texts, texts_)); }
    void memory(routines::Memory& value) override {
        std::uint64_t there = 0;
        choice(there, 1);
        if (!there) return;
        const Place place = place_of_(next(call_.memories, memories_));
        routines::Memory made;
        choice(made.dtype);
        field(*this, made.shape);
        field(*this, made.strides);
        field(*this, made.offset);
        const std::int64_t size = itemsize(made.dtype);
        require(made.shape.size() == made.strides.size() && place.first % size == 0);
        made.offset += place.first / size;
        require(lies_within(made.shape, made.strides, made.offset, size, place.buffer->bytes()));
        made.buffer = place.buffer;
        value = std::move(made);
    }

private:
    void choice(DType& dtype) {
        std::uint64_t number = 0;
        choice(number, dtype_count - 1);
        dtype = static_cast<DType>(number);
    }
    void require(bool holds) const {
        if (!holds) throw Error(ErrorCode::Value, program_.name + ": the program is damaged");
    }
    template <class T> const T& next(const std::vector<T>& list, std::size_t& at) const {
        require(at < list.size());
        return list[at++];
    }
    const saved::Program& program_;
    const saved::RoutineCall& call_;
    const std::span<const std::int64_t> values_;
    const std::function<Place(std::uint32_t)>& place_of_;
    std::size_t choices_ = 0, numbers_ = 0, reals_ = 0, texts_ = 0, memories_ = 0;
};

}  // namespace

void require_routine(const saved::Routine& routine, const std::string& path) {
    const routines::RoutineBase* const known = routines::RoutineBase::named(routine.name);
    if (!known || known->signature() != routine.signature)
        throw Error(ErrorCode::Value,
                    "cannot load " + path + ": this pardo has no routine " + routine.name + " with these arguments: export it anew");
}

void replay(const saved::Program& program, const saved::RoutineCall& call, std::span<const std::int64_t> values,
            const std::function<Place(std::uint32_t)>& place_of, device::Queue* queue) {
    Saved fields(program, call, values, place_of);
    const Text place(call.place);
    const device::LocationScope line(place);
    routines::RoutineBase::named(program.routines[call.routine].name)->replay(queue, fields);
}

}  // namespace pardo::saving
