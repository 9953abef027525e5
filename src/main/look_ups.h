#pragma once

namespace lavant {

// A static program has the C library's own look-up of names in it and cannot load another: the modules that
// nsswitch.conf may ask for belong to another C library. To be called before anything else.
void use_own_look_ups();

}  // namespace lavant
