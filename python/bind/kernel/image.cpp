// python/bind/kernel/image.cpp: images and samplers of pardo/program.h for Python.
#include <pardo/program.h>

#include "bind.h"

namespace bind {

using pardo::Image;
using pardo::SampledImage;
using pardo::Sampler;

void bind_image(nb::module_& m) {
    nb::class_<Image>(m, "_Image", "Texels, and a device's own copy of them.")
        .def(
            "__init__",
            [](Image* self, nb::handle texels, int rank, bool layered, bool normalized) {
                new (self) Image(array_of(texels.ptr()), rank, layered, normalized);
            },
            nb::arg("texels"), nb::arg("rank"), nb::arg("layered"), nb::arg("normalized"))
        .def(
            "_texels",
            [](const Image& image, bool writes) {
                const auto get = [&] {
                    const Unlocked unlocked;
                    return image.texels(writes);
                };
                return nb::steal(wrap(get()));
            },
            nb::arg("writes"), nb::sig("def _texels(self, writes: bool) -> Array"), "The texels, up to date.");
    nb::class_<Sampler>(m, "_Sampler", "How a kernel samples an image.")
        .def(
            "__init__",
            [](Sampler* self, bool normalized, int addressing, bool linear) {
                new (self) Sampler{normalized, static_cast<pardo::Addressing>(addressing), linear};
            },
            nb::arg("normalized"), nb::arg("addressing"), nb::arg("linear"));
    nb::class_<SampledImage>(m, "_SampledImage", "An image with a sampler.")
        .def(nb::init<const Image&, const Sampler&>(), nb::arg("image"), nb::arg("sampler"));
}

}  // namespace bind
