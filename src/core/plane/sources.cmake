set(LAVANT_PLANE_SOURCES plane/fit.cpp plane/plane.cpp plane/plane_computes.cpp plane/plane_explain.cpp plane/plane_jobs.cpp plane/plane_nodes.cpp
    plane/plane_schedule.cpp plane/verdict.cpp)
set(LAVANT_PLANE_TESTS plane/fit_test.cpp plane/plane_computes_test.cpp plane/plane_ends_test.cpp plane/plane_hooks_test.cpp plane/plane_property_test.cpp plane/plane_test.cpp)
