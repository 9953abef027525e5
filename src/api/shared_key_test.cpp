#include "api/shared_key.h"

#include <gtest/gtest.h>
