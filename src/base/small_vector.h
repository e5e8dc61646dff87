// src/base/small_vector.h: a vector of trivially copyable things that keeps the first N inside itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace pardo {

/// Contiguous, growing, N elements inline; only for trivially copyable T.
template <class T, int N> class SmallVector {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    SmallVector() = default;
    explicit SmallVector(int count, T value = T()) { assign(count, value); }
    SmallVector(std::initializer_list<T> list) { append(list.begin(), list.end()); }
    explicit SmallVector(std::span<const T> values) { append(values.data(), values.data() + values.size()); }
    SmallVector(const SmallVector& o) { append(o.begin(), o.end()); }
    SmallVector(SmallVector&& o) noexcept { steal(o); }
    ~SmallVector() { release(); }
    SmallVector& operator=(const SmallVector& o) {
        if (this != &o) {
            size_ = 0;
            append(o.begin(), o.end());
        }
        return *this;
    }
    SmallVector& operator=(SmallVector&& o) noexcept {
        if (this != &o) {
            release();
            steal(o);
        }
        return *this;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    int size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](int i) { return data_[i]; }
    const T& operator[](int i) const { return data_[i]; }
    T& back() { return data_[size_ - 1]; }
    const T& back() const { return data_[size_ - 1]; }
    operator std::span<const T>() const { return {data_, static_cast<std::size_t>(size_)}; }

    void clear() { size_ = 0; }
    void pop_back() { --size_; }
    void push_back(T v) {
        if (size_ == capacity_) grow(size_ + 1);
        data_[size_++] = v;
    }
    void assign(int count, T value) {
        if (count > capacity_) grow(count);
        std::fill_n(data_, count, value);
        size_ = count;
    }
    void resize(int count, T value = T()) {
        if (count > capacity_) grow(count);
        for (int i = size_; i < count; ++i) data_[i] = value;
        size_ = count;
    }
    void insert(int at, T v) {
        push_back(v);
        std::rotate(data_ + at, data_ + size_ - 1, data_ + size_);
    }
    void erase(int at) {
        std::copy(data_ + at + 1, data_ + size_, data_ + at);
        --size_;
    }
    template <class It> void append(It first, It last) {
        for (; first != last; ++first) push_back(*first);
    }
    friend bool operator==(const SmallVector& a, const SmallVector& b) {
        return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
    }

private:
    [[gnu::noinline]] void grow(int need) {
        int cap = std::max(need, capacity_ * 2);
        T* fresh = static_cast<T*>(::operator new(sizeof(T) * static_cast<std::size_t>(cap)));
        std::memcpy(static_cast<void*>(fresh), data_, sizeof(T) * static_cast<std::size_t>(size_));
        release();
        data_ = fresh;
        capacity_ = cap;
    }
    void release() {
        if (data_ != inline_()) ::operator delete(data_);
    }
    void steal(SmallVector& o) {
        if (o.data_ == o.inline_()) {
            data_ = inline_();
            capacity_ = N;
            std::memcpy(static_cast<void*>(data_), o.data_, sizeof(T) * static_cast<std::size_t>(o.size_));
        } else {
            data_ = o.data_;
            capacity_ = o.capacity_;
        }
        size_ = o.size_;
        o.data_ = o.inline_();
        o.size_ = 0;
        o.capacity_ = N;
    }
    T* inline_() { return reinterpret_cast<T*>(storage_); }

    alignas(T) unsigned char storage_[sizeof(T) * N];
    T* data_ = reinterpret_cast<T*>(storage_);
    int size_ = 0;
    int capacity_ = N;
};

}  // namespace pardo
