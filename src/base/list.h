// src/base/list.h: a doubly linked list whose links are parts of what is listed.
#pragma once

namespace pardo {

/// A place in a list, or the head of one. A link that is in no list and the head of an empty list point at themselves.
struct Link {
    Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    bool empty() const { return next == this; }
    /// Puts a link that is in no list at the end of this one.
    void append(Link& link) {
        link.previous = previous;
        link.next = this;
        previous->next = &link;
        previous = &link;
    }
    /// Takes the link out of the list that it is in, if any.
    void remove() {
        previous->next = next;
        next->previous = previous;
        previous = next = this;
    }

    Link* previous = this;
    Link* next = this;
};

}  // namespace pardo
