// DeleteTopics: by name or by id; brokers drop what they hold when they see the record.
#include <fmt/format.h>

#include <set>

#include "node/controller/state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;
using Asked = wire::DeleteTopicsRequest::DeleteTopicState;
using Answer = wire::DeleteTopicsResponse::DeletableTopicResult;

void refuse(Answer& answer, ErrorCode code, std::string message) {
    answer.error_code = code;
    answer.error_message = std::move(message);
}

/// How often each topic is asked for, so that none is deleted by a request that contradicts itself.
struct Times {
    std::map<std::string, int> by_name;
    std::map<Uuid, int> by_id;
};

/// The topic to delete; nullptr: `answer` says why there is none.
const TopicImage* find(const MetadataImage& image, const Asked& asked, const Times& times, Answer& answer) {
    const Uuid none;
    answer.name = asked.name;
    answer.topic_id = asked.topic_id;
    if (asked.name && asked.topic_id != none) {
        refuse(answer, ErrorCode::InvalidRequest, "a topic is named by its name or its id, not by both");
        return nullptr;
    }
    if (!asked.name && asked.topic_id == none) {
        refuse(answer, ErrorCode::InvalidRequest, "neither a name nor a topic id");
        return nullptr;
    }
    const TopicImage* topic = asked.name ? image.topic(*asked.name) : image.topic(asked.topic_id);
    if (asked.name && times.by_name.at(*asked.name) > 1) {
        refuse(answer, ErrorCode::InvalidRequest, fmt::format("topic {} is there twice", *asked.name));
        return nullptr;
    }
    if (!asked.name && times.by_id.at(asked.topic_id) > 1) {
        refuse(answer, ErrorCode::InvalidRequest,
               fmt::format("topic id {} is there twice", asked.topic_id.to_string()));
        return nullptr;
    }
    if (topic == nullptr) {
        if (asked.name) {
            refuse(answer, ErrorCode::UnknownTopicOrPartition,
                   fmt::format("there is no topic {}", *asked.name));
        } else {
            refuse(answer, ErrorCode::UnknownTopicId,
                   fmt::format("there is no topic with id {}", asked.topic_id.to_string()));
        }
    }
    return topic;
}

}  // namespace

wire::DeleteTopicsResponse Controller::handle(Instant, std::int64_t wall_ms,
                                              const wire::DeleteTopicsRequest& request) {
    State& state = *state_;
    std::vector<Asked> asked = request.topics;
    for (const std::string& name : request.topic_names) asked.push_back({name, {}});
    Times times;
    for (const Asked& one : asked) {
        if (one.name)
            times.by_name[*one.name] += 1;
        else
            times.by_id[one.topic_id] += 1;
    }
    wire::DeleteTopicsResponse response;
    Records records;
    std::set<Uuid> removed;
    for (const Asked& one : asked) {
        Answer& answer = response.responses.emplace_back();
        const TopicImage* topic = find(state.image, one, times, answer);
        if (topic == nullptr) continue;
        answer.name = topic->name;
        answer.topic_id = topic->id;
        // By its name and, a second time, by its id: one record removes it.
        if (!removed.insert(topic->id).second) continue;
        wire::RemoveTopicRecord record;
        record.topic_id = topic->id;
        records.emplace_back(record);
    }
    if (state.commit(wall_ms, records, {})) return response;
    for (Answer& answer : response.responses) {
        if (answer.error_code == ErrorCode::None)
            refuse(answer, ErrorCode::UnknownServerError, state.fatal->message);
    }
    return response;
}

}  // namespace highwater::node
