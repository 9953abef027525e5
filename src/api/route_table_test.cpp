// placeholder: prints the routes
#include <gtest/gtest.h>

#include <iostream>

#include "api/test_world.h"

namespace lavant::api {
TEST(RouteTable, Print) {
    TestWorld world;
    for (const auto& one : world.api().routes())
        std::cout << "ROUTE " << static_cast<int>(one.need) << " " << one.method << " " << one.pattern << "\n";
}
}  // namespace lavant::api
