// "topic-partition" is read back as it was written, and nothing else is one.
#include "base/partition.h"

#include <gtest/gtest.h>

namespace highwater {
namespace {

TEST(TopicPartition, IsReadBackAsItWasWritten) {
    for (const TopicPartition& name :
         {TopicPartition{"t", 0}, TopicPartition{"orders-eu", 12}, TopicPartition{"a.b_c-", 2147483647}})
        EXPECT_EQ(TopicPartition::parse(name.to_string()), name) << name.to_string();
}

TEST(TopicPartition, NothingElseIsOne) {
    for (const char* text : {"", "t", "-0", "t-", "t-x", "t-0x", "t-2147483648", "t-0 ", "meta.properties"})
        EXPECT_EQ(TopicPartition::parse(text), std::nullopt) << text;
}

}  // namespace
}  // namespace highwater
