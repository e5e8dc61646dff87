# pardo/native.pxd: pardo/native.hpp for extensions in Cython that are compiled as C++ with the folder pardo.get_include().
#
#     from pardo.native cimport queue, array, event, work, pardo_use, read, discard, from_python, to_python, submit
#
# Handles count themselves. A work function is `cdef int f(const work& w) noexcept nogil`, and gives 0, or a number for its failure. What C++
# throws in it, as `elements` does for another dtype, becomes the failure of the event.
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp cimport bool
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from "pardo/c_api.h" nogil:
    ctypedef int32_t pardo_status
    ctypedef void* pardo_device
    ctypedef void* pardo_queue
    ctypedef void* pardo_event
    ctypedef void* pardo_array
    enum:
        PARDO_ANY
        PARDO_CPU, PARDO_OPENCL, PARDO_CUDA, PARDO_NULL
        PARDO_BOOL, PARDO_INT8, PARDO_INT16, PARDO_INT32, PARDO_INT64, PARDO_UINT8, PARDO_UINT16, PARDO_UINT32, PARDO_UINT64
        PARDO_FLOAT16, PARDO_FLOAT32, PARDO_FLOAT64, PARDO_COMPLEX64, PARDO_COMPLEX128, PARDO_BFLOAT16
        PARDO_MEM_DEVICE, PARDO_MEM_SHARED, PARDO_MEM_HOST
        PARDO_C_CONTIGUOUS, PARDO_F_CONTIGUOUS, PARDO_READ_ONLY, PARDO_PENDING, PARDO_FOREIGN
        PARDO_QUEUED, PARDO_RUNNING, PARDO_COMPLETE, PARDO_FAILED
        PARDO_E_VALUE, PARDO_E_TYPE, PARDO_E_RUNTIME, PARDO_E_USER
    ctypedef struct pardo_use:
        pardo_array array
        uint32_t access
    ctypedef struct pardo_array_info:
        int32_t dtype, ndim
        uint32_t flags
        const int64_t* shape
        const int64_t* strides
        int64_t count, nbytes, itemsize
        int32_t backend, memory_kind
    ctypedef struct pardo_range:
        uint32_t size
        int32_t ndim
        int64_t global_items "global"[3]
        int64_t local[3]
    ctypedef struct pardo_native_device:
        void* device
        void* context
        void* platform
    ctypedef struct pardo_work:
        int32_t backend
        pardo_queue queue
        void* stream
        void** wait
        uint32_t n_wait, n
        pardo_native_device native

cdef extern from "pardo/native/python.hpp" namespace "pardo::native":
    void set_python_error()

cdef extern from "pardo/native/python.hpp" namespace "pardo::native" nogil:
    cppclass device:
        device()
        string id() except +set_python_error
        int32_t backend() except +set_python_error
    cppclass event:
        event()
        bool wait() except +set_python_error
        bool wait(int64_t timeout_ns) except +set_python_error
        int32_t status()
        pardo_event get()
    cppclass queue:
        queue()
        device device() except +set_python_error
        void wait() except +set_python_error
        int thread_count()
        pardo_queue get()
    cppclass array:
        array()
        pardo_array_info info() except +set_python_error
        void require(const char* what, int32_t dtype, int32_t ndim, uint32_t flags) except +set_python_error
        array contiguous(int32_t dtype) except +set_python_error
        event force() except +set_python_error
        pardo_array get()

    # The default device's queue, and an array that has no values yet.
    queue queue_of "pardo::native::queue::of"() except +set_python_error
    array empty "pardo::native::array::empty"(const queue& q, int32_t dtype, const vector[int64_t]& shape) except +set_python_error

    # In a work function. Nothing here takes the GIL: what is wrong is thrown through it.
    cppclass work:
        const pardo_work* get()
        bool on_cpu()
        bool on_opencl()
        bool on_cuda()
        int64_t extent(uint32_t use, int d)
        const pardo_array_info& info(uint32_t use)
        T* data[T](uint32_t use)
        void* scratch()
        void set_array(void* kernel, uint32_t index, size_t use)
        void** done()

    pardo_use read(const array& x)
    pardo_use write(const array& x)
    pardo_use discard(const array& x)
    pardo_use update(const array& x)

    cppclass options:
        options()
        const char* name
        double cost_ns
        vector[event] after
        size_t scratch_bytes
    event submit[F](const queue& q, const pardo_use* uses, size_t n, F f) except +set_python_error
    event submit[F](const queue& q, const pardo_use* uses, size_t n, F f, const options& o) except +set_python_error
    # With a copy of parameters: submit(q, uses, n, with_value(f, parameters)), of `cdef int f(const work& w, const T& p) noexcept nogil`.
    cppclass bound[T]:
        bound()
    bound[T] with_value[T](int (*f)(const work&, const T&) noexcept nogil, const T& value)

    # In a work function: f(begin, end, user) on the cores.
    void parallel_for(pardo_queue q, int64_t n, int64_t grain, void (*f)(int64_t, int64_t, void*) noexcept nogil, void* user)

    # A kernel of a text, over a range of items; arguments are arrays, numbers of the kernel's types, and plain structures.
    event launch[A](const queue& q, const char* text, const char* kernel, const pardo_range& over, const vector[event]& after,
                    const A& a) except +set_python_error
    event launch[A, B](const queue& q, const char* text, const char* kernel, const pardo_range& over, const vector[event]& after,
                       const A& a, const B& b) except +set_python_error
    event launch[A, B, C](const queue& q, const char* text, const char* kernel, const pardo_range& over, const vector[event]& after,
                          const A& a, const B& b, const C& c) except +set_python_error
    event launch[A, B, C, D](const queue& q, const char* text, const char* kernel, const pardo_range& over, const vector[event]& after,
                             const A& a, const B& b, const C& c, const D& d) except +set_python_error

cdef extern from "pardo/native/python.hpp" namespace "pardo::native":
    # from_python[queue](o): TypeError where it is none. None: the default device's queue, or an event that is complete.
    Handle from_python[Handle](object o) except +set_python_error
    object to_python[Handle](const Handle& x)
