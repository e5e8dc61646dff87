// src/routines/fields.h: the arguments of a routine taken apart into values that can be kept, and put together again.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/small_vector.h"
#include "routines/memory.h"

namespace pardo::routines {

/// Is given each field of the arguments in turn. What reads changes them, all others leave them.
class Fields {
public:
    virtual ~Fields() = default;
    /// What does not follow from the extents of arrays, at most `last`: a choice, a dtype.
    virtual void choice(std::uint64_t& value, std::uint64_t last) = 0;
    /// How many fields of one kind follow.
    virtual void count(std::uint64_t& value) = 0;
    /// What may follow from extents.
    virtual void number(std::int64_t& value) = 0;
    virtual void real(double& value) = 0;
    /// A text of static life.
    virtual void text(const char*& value) = 0;
    virtual void memory(Memory& value) = 0;
};

inline void field(Fields& f, double& value) { f.real(value); }
inline void field(Fields& f, std::int64_t& value) { f.number(value); }
inline void field(Fields& f, int& value) {
    std::int64_t number = value;
    f.number(number);
    value = static_cast<int>(number);
}
inline void field(Fields& f, const char*& value) { f.text(value); }
inline void field(Fields& f, Memory& value) { f.memory(value); }
/// One of an enumeration whose last one is this.
template <class E> void choice(Fields& f, E& value, E last) {
    auto number = static_cast<std::uint64_t>(value);
    f.choice(number, static_cast<std::uint64_t>(last));
    value = static_cast<E>(number);
}
inline void field(Fields& f, bool& value) { choice(f, value, true); }
template <class T> void field(Fields& f, std::vector<T>& list) {
    std::uint64_t count = list.size();
    f.count(count);
    list.resize(static_cast<std::size_t>(count));
    for (T& item : list) field(f, item);
}
template <class T, int N> void field(Fields& f, SmallVector<T, N>& list) {
    auto count = static_cast<std::uint64_t>(list.size());
    f.count(count);
    if (count != static_cast<std::uint64_t>(list.size())) list.assign(static_cast<int>(count), T());
    for (T& item : list) field(f, item);
}

/// An argument as it is kept: lists by value.
template <class T> struct Kept { using Type = std::remove_cvref_t<T>; };
template <class T> struct Kept<std::span<const T>> { using Type = std::vector<T>; };
template <class T> using KeptType = typename Kept<T>::Type;
/// Whether an argument is memory.
template <class T>
inline constexpr bool is_memory = std::is_same_v<KeptType<T>, Memory> || std::is_same_v<KeptType<T>, std::vector<Memory>>;

}  // namespace pardo::routines
