// Goal: our description of every message is Kafka's, field by field: names, types, versions, which versions
// may be null or are tagged. Kafka's own schemas are read from its jars.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/kafka_tools/dump_tool.h"
#include "tests/wire/messages.h"
#include "wire/api_table.h"

namespace highwater::test {
namespace {

using nlohmann::json;
using wire::Versions;

constexpr std::int16_t kForever = std::numeric_limits<std::int16_t>::max();

// -- as Kafka has it ----------------------------------------------------------------------------------------

/// "3+", "0-4", "7", "none".
Versions versions_of(const std::string& text) {
    if (text.empty() || text == "none") return {};
    const std::size_t dash = text.find('-');
    const auto low = static_cast<std::int16_t>(std::stoi(text));
    if (text.back() == '+') return wire::since(low);
    return {low,
            dash == std::string::npos ? low : static_cast<std::int16_t>(std::stoi(text.substr(dash + 1)))};
}

Versions versions_in(const json& field, const char* key) {
    return field.contains(key) ? versions_of(field.at(key).get<std::string>()) : Versions{};
}

Versions within(Versions a, Versions b) {
    const Versions both{std::max(a.low, b.low), std::min(a.high, b.high)};
    return both.low > both.high ? Versions{} : both;
}

std::string text_of(Versions versions) {
    if (versions.low > versions.high) return "none";
    return versions.high == kForever ? fmt::format("{}+", versions.low)
                                     : fmt::format("{}-{}", versions.low, versions.high);
}

// -- as we have it ------------------------------------------------------------------------------------------

template <class T>
struct Unwrapped {
    using Type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
    using Type = T;
};

template <class T>
struct Element {
    using Type = void;
};
template <class T>
struct Element<std::vector<T>> {
    using Type = T;
};

/// Our type in Kafka's word; of structs only that they are one: their names are not on the wire.
template <class T>
std::string type_name() {
    if constexpr (std::is_same_v<T, bool>)
        return "bool";
    else if constexpr (std::is_same_v<T, std::int8_t>)
        return "int8";
    else if constexpr (std::is_same_v<T, std::int16_t> || std::is_same_v<T, wire::ErrorCode>)
        return "int16";
    else if constexpr (std::is_same_v<T, std::uint16_t>)
        return "uint16";
    else if constexpr (std::is_same_v<T, std::int32_t>)
        return "int32";
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return "int64";
    else if constexpr (std::is_same_v<T, std::string>)
        return "string";
    else if constexpr (std::is_same_v<T, Uuid>)
        return "uuid";
    else if constexpr (std::is_same_v<T, Bytes>)
        return "bytes";
    else if constexpr (!std::is_void_v<typename Element<T>::Type>)
        return "[]" + type_name<typename Element<T>::Type>();
    else
        return "struct";
}

/// The struct whose fields follow, through arrays.
template <class T>
struct Inner {
    using Type = T;
};
template <class T>
struct Inner<std::vector<T>> {
    using Type = T;
};

class Comparison {
public:
    Comparison(std::string message, Versions offered, const json& schema)
        : message_(std::move(message)), offered_(offered) {
        if (!schema.contains("commonStructs")) return;
        for (const json& one : schema.at("commonStructs")) common_[one.at("name")] = one.at("fields");
    }

    template <class Struct>
    void fields(const json& theirs, const std::string& path) {
        std::set<std::string> known;
        std::apply([&](const auto&... ours) { (field(ours, theirs, path, known), ...); }, Struct::fields());
        for (const json& one : theirs) {
            const std::string name = lower(one.at("name").get<std::string>());
            const Versions there = within(versions_in(one, "versions"), offered_);
            if (!known.contains(name) && there.low <= there.high) breach(path + name, "is missing here");
        }
    }

    [[nodiscard]] const std::string& breaches() const { return breaches_; }
    [[nodiscard]] int compared() const { return compared_; }

private:
    static std::string lower(std::string name) {
        if (!name.empty() && name[0] >= 'A' && name[0] <= 'Z')
            name[0] = static_cast<char>(name[0] - 'A' + 'a');
        return name;
    }
    void breach(const std::string& where, const std::string& what) {
        breaches_ += fmt::format("{} {}: {}\n", message_, where, what);
    }
    void same(const std::string& where, const std::string& what, const std::string& theirs,
              const std::string& ours) {
        if (theirs != ours) breach(where, fmt::format("{} is {}, here {}", what, theirs, ours));
    }

    /// Kafka's word for the type of a field; "struct" for structs, "bytes" for records, which are bytes on
    /// the wire.
    std::string type_of(const json& one) const {
        const std::string type = one.at("type").get<std::string>();
        const std::string element = type.starts_with("[]") ? type.substr(2) : type;
        static const std::set<std::string> kPlain = {"bool",   "int8",   "int16", "uint16",
                                                     "int32",  "uint32", "int64", "float64",
                                                     "string", "uuid",   "bytes"};
        const std::string word = element == "records"       ? "bytes"
                                 : kPlain.contains(element) ? element
                                                            : "struct";
        return type.starts_with("[]") ? "[]" + word : word;
    }

    template <class Struct, class T>
    void field(const wire::Field<Struct, T>& ours, const json& theirs, const std::string& path,
               std::set<std::string>& known) {
        const std::string name(ours.name);
        const std::string where = path + name;
        if (!known.insert(name).second) return breach(where, "is there twice");
        const auto found = std::find_if(theirs.begin(), theirs.end(), [&](const json& one) {
            return lower(one.at("name").get<std::string>()) == name;
        });
        if (found == theirs.end()) {
            const Versions here = within(ours.versions, offered_);
            return here.low <= here.high ? breach(where, "is not Kafka's") : void();
        }
        ++compared_;
        using Value = typename Unwrapped<T>::Type;
        same(where, "its type", type_of(*found), type_name<Value>());
        // What lies outside the versions that are offered is never written.
        const Versions there = within(versions_in(*found, "versions"), offered_);
        same(where, "its versions", text_of(there), text_of(within(ours.versions, offered_)));
        same(where, "nullable", text_of(within(versions_in(*found, "nullableVersions"), there)),
             text_of(within(ours.nullable_in, there)));
        same(where, "tagged", text_of(within(versions_in(*found, "taggedVersions"), there)),
             text_of(within(ours.tagged_in, there)));
        if (found->contains("tag")) same(where, "its tag", found->at("tag").dump(), std::to_string(ours.tag));
        using Nested = typename Inner<Value>::Type;
        if constexpr (requires { Nested::fields(); }) nested<Nested>(*found, where);
    }

    template <class Nested>
    void nested(const json& one, const std::string& where) {
        std::string type = one.at("type").get<std::string>();
        if (type.starts_with("[]")) type.erase(0, 2);
        if (one.contains("fields")) return fields<Nested>(one.at("fields"), where + ".");
        const auto shared = common_.find(type);
        if (shared == common_.end()) return breach(where, "has no fields in Kafka's schema");
        fields<Nested>(shared->second, where + ".");
    }

    std::string message_;
    Versions offered_;
    std::map<std::string, json> common_;
    std::string breaches_;
    int compared_ = 0;
};

struct Compared {
    std::string breaches;
    int fields = 0;
};

template <class Message>
Compared compare(const json& schema) {
    const std::string name(Message::kName);
    const Versions valid = versions_in(schema, "validVersions");
    // Kafka 4.4 begins with the version of ApiVersions that has a cluster id.
    const bool ahead = name.starts_with("ApiVersionsRe");
    const Versions offered = within(Message::kVersions, valid);
    Comparison comparison(name, offered, schema);
    comparison.template fields<Message>(schema.at("fields"), "");
    Compared compared{comparison.breaches(), comparison.compared()};
    const auto breach = [&](const std::string& what) { compared.breaches += name + ": " + what + "\n"; };
    if (!ahead && text_of(offered) != text_of(Message::kVersions))
        breach(fmt::format("versions {} here, valid are {}", text_of(Message::kVersions), text_of(valid)));
    const Versions flexible = within(versions_in(schema, "flexibleVersions"), offered);
    const Versions ours = within(wire::since(Message::kFlexibleSince), offered);
    if (text_of(flexible) != text_of(ours))
        breach(fmt::format("flexible in {}, here in {}", text_of(flexible), text_of(ours)));
    if constexpr (requires { Message::kApiKey; }) {
        if (schema.at("apiKey").get<int>() != static_cast<int>(Message::kApiKey)) breach("another api key");
    }
    return compared;
}

class Schemas : public testing::Test {
protected:
    void SetUp() override {
        const std::string text = kafka_schemas();
        ASSERT_NE(text, "");
        texts_ = json::parse(text);
    }
    /// nullopt after a failure of the test.
    [[nodiscard]] std::optional<json> schema(std::string_view message) const {
        const std::string file = fmt::format("{}.json", message);
        if (!texts_.contains(file)) {
            ADD_FAILURE() << "Kafka's jars have no " << file;
            return std::nullopt;
        }
        // Kafka's schemas have comments.
        return json::parse(texts_.at(file).get<std::string>(), nullptr, true, true);
    }

private:
    json texts_;
};

TEST_F(Schemas, EveryMessageIsKafkasFieldByField) {
    int messages = 0;
    int fields = 0;
    for_each_message([&]<class Message>() {
        const auto theirs = schema(Message::kName);
        if (!theirs) return;
        const Compared compared = compare<Message>(*theirs);
        EXPECT_EQ(compared.breaches, "");
        EXPECT_GT(compared.fields + static_cast<int>(theirs->at("fields").empty()), 0) << Message::kName;
        ++messages;
        fields += compared.fields;
    });
    fmt::print("{} messages, {} fields\n", messages, fields);
}

/// What clients may be told a newer broker does, and this one does not.
const std::map<std::string, std::string>& known_gaps() {
    static const std::map<std::string, std::string> kGaps = {
        {"BrokerHeartbeat", "between our processes: the version that all of them speak"},
    };
    return kGaps;
}

TEST_F(Schemas, EveryApiIsOfferedUpToTheVersionThatKafkasClientsNegotiate) {
    for (const wire::ApiInfo& api : wire::kApis) {
        const auto request = schema(fmt::format("{}Request", api.name));
        ASSERT_TRUE(request) << api.name;
        const bool unstable = request->value("latestVersionUnstable", false);
        const auto latest =
            static_cast<std::int16_t>(versions_in(*request, "validVersions").high - (unstable ? 1 : 0));
        const Versions& offered = api.client.low <= api.client.high ? api.client : api.internal;
        if (known_gaps().contains(std::string(api.name))) {
            EXPECT_NE(offered.high, latest) << api.name << " is no gap any more";
            continue;
        }
        EXPECT_EQ(offered.high, latest) << api.name;
        EXPECT_EQ(versions_in(*request, "flexibleVersions").low, api.flexible_since) << api.name;
    }
}

struct Sample {
    static constexpr std::string_view kName = "Sample";
    static constexpr Versions kVersions{0, 3};
    static constexpr std::int16_t kFlexibleSince = 2;
    std::int32_t number = 0;
    std::optional<std::string> text;
    std::vector<std::int64_t> list;
    static constexpr auto fields() {
        return std::tuple{wire::field("number", &Sample::number, wire::since(0)),
                          wire::field("text", &Sample::text, wire::since(1)).nullable(wire::since(2)),
                          wire::field("list", &Sample::list, wire::since(2)).tagged(0, wire::since(2))};
    }
};

TEST(SchemaComparison, FindsEachKindOfDifference) {
    const json right = json::parse(R"({"validVersions": "0-3", "flexibleVersions": "2+", "fields": [
        {"name": "Number", "type": "int32", "versions": "0+"},
        {"name": "Text", "type": "string", "versions": "1+", "nullableVersions": "2+"},
        {"name": "List", "type": "[]int64", "versions": "2+", "taggedVersions": "2+", "tag": 0}]})");
    EXPECT_EQ(compare<Sample>(right).breaches, "");
    EXPECT_EQ(compare<Sample>(right).fields, 3);
    const auto breaches = [&](const char* pointer, const json& value) {
        json wrong = right;
        wrong[json::json_pointer(pointer)] = value;
        return compare<Sample>(wrong).breaches;
    };
    EXPECT_EQ(breaches("/fields/0/type", "int64"), "Sample number: its type is int64, here int32\n");
    EXPECT_EQ(breaches("/fields/2/type", "[]int32"), "Sample list: its type is []int32, here []int64\n");
    EXPECT_EQ(breaches("/fields/0/name", "Digit"),
              "Sample number: is not Kafka's\nSample digit: is missing here\n");
    EXPECT_EQ(breaches("/fields/0/versions", "0-2"), "Sample number: its versions is 0-2, here 0-3\n");
    EXPECT_EQ(breaches("/fields/1/nullableVersions", "1+"), "Sample text: nullable is 1-3, here 2-3\n");
    EXPECT_EQ(breaches("/fields/2/taggedVersions", "3+"), "Sample list: tagged is 3-3, here 2-3\n");
    EXPECT_EQ(breaches("/fields/2/tag", 1), "Sample list: its tag is 1, here 0\n");
    EXPECT_EQ(breaches("/flexibleVersions", "3+"), "Sample: flexible in 3-3, here in 2-3\n");
    EXPECT_EQ(breaches("/validVersions", "1-3"), "Sample: versions 0-3 here, valid are 1-3\n");
    json more = right;
    more["fields"].push_back({{"name", "Extra"}, {"type", "bool"}, {"versions", "3+"}});
    EXPECT_EQ(compare<Sample>(more).breaches, "Sample extra: is missing here\n");
    more["fields"].back()["versions"] = "4+";
    EXPECT_EQ(compare<Sample>(more).breaches, "") << "beyond the versions that are offered";
}

}  // namespace
}  // namespace highwater::test
