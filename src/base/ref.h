// src/base/ref.h: intrusive reference counts, for what is shared: Node, Buffer, Program, Queue, event state.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace pardo {

/// Base of shared objects. T provides `static void destroy(T*)` or a virtual destructor reached by `delete`.
template <class T> class RefCounted {
public:
    RefCounted() = default;
    RefCounted(const RefCounted&) = delete;
    RefCounted& operator=(const RefCounted&) = delete;
    void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    void release() const noexcept {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) T::destroy(static_cast<T*>(const_cast<RefCounted*>(this)));
    }
    /// As retain, but false when the count is zero already: the object is on its way out.
    bool try_retain() const noexcept {
        std::uint32_t count = count_.load(std::memory_order_relaxed);
        while (count != 0) {
            if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
        }
        return false;
    }
    std::uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }
    static void destroy(T* self) { delete self; }

private:
    mutable std::atomic<std::uint32_t> count_{0};
};

/// Owning pointer to a RefCounted object.
template <class T> class Ref {
public:
    Ref() = default;
    Ref(std::nullptr_t) {}
    Ref(T* p) : p_(p) {
        if (p_) p_->retain();
    }
    Ref(const Ref& o) : Ref(o.p_) {}
    Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
    template <class U> Ref(const Ref<U>& o) : Ref(static_cast<T*>(o.get())) {}
    ~Ref() {
        if (p_) p_->release();
    }
    Ref& operator=(Ref o) noexcept {
        std::swap(p_, o.p_);
        return *this;
    }
    T* get() const { return p_; }
    T* operator->() const { return p_; }
    T& operator*() const { return *p_; }
    explicit operator bool() const { return p_ != nullptr; }
    friend bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }
    /// Gives the pointer up without touching the count.
    T* detach() { return std::exchange(p_, nullptr); }

private:
    T* p_ = nullptr;
};

}  // namespace pardo
