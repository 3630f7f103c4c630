// Parses and evaluates the `until` language.
#include "model/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "model/fault.h"

namespace highwater {

class Condition::Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<std::vector<Comparison>> parse() {
        std::vector<Comparison> comparisons;
        while (true) {
            auto comparison = parse_comparison();
            if (!comparison) return tl::make_unexpected(comparison.error());
            comparisons.push_back(std::move(*comparison));
            skip_spaces();
            if (at_ == text_.size()) return comparisons;
            if (!take_and()) return error("expected 'and' or the end");
        }
    }

private:
    tl::unexpected<Error> error(const std::string& what) const {
        return failure(fmt::format("condition '{}': {} at character {}", text_, what, at_ + 1));
    }

    void skip_spaces() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }

    bool take(std::string_view word) {
        skip_spaces();
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }

    /// "&&", or "and" as a whole word.
    bool take_and() {
        if (take("&&")) return true;
        const std::size_t begin = at_;
        if (take_word() == "and") return true;
        at_ = begin;
        return false;
    }

    static bool is_word(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
               c == ':';
    }

    std::string take_word() {
        skip_spaces();
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }

    Result<Operator> parse_operator() {
        constexpr std::pair<std::string_view, Operator> kOperators[] = {
            {"==", Operator::Equal},        {"!=", Operator::NotEqual}, {"<=", Operator::LessEqual},
            {">=", Operator::GreaterEqual}, {"<", Operator::Less},      {">", Operator::Greater}};
        for (const auto& [text, op] : kOperators) {
            if (take(text)) return op;
        }
        return error("expected ==, !=, <, <=, > or >=");
    }

    Result<Comparison> parse_comparison() {
        auto left = parse_term();
        if (!left) return tl::make_unexpected(left.error());
        if (means_at_least_one(*left)) {
            return Comparison{std::move(*left), Operator::GreaterEqual,
                              Term{.kind = Term::Kind::Number, .number = 1, .argument = {}, .members = {}}};
        }
        auto op = parse_operator();
        if (!op) return tl::make_unexpected(op.error());
        auto right = parse_term();
        if (!right) return tl::make_unexpected(right.error());
        return Comparison{std::move(*left), *op, std::move(*right)};
    }

    /// A term in parentheses that no operator follows.
    bool means_at_least_one(const Term& term) {
        const bool truth = term.kind == Term::Kind::Fenced || term.kind == Term::Kind::Answered;
        if (!truth && term.event.index() == 0) return false;
        skip_spaces();
        const std::size_t begin = at_;
        const bool ends = at_ == text_.size() || take_and();
        at_ = begin;
        return ends;
    }

    Result<Term> parse_set() {
        // Sets of sets say nothing more than sets, and recursion must end.
        if (in_set_) return error("a set within a set");
        in_set_ = true;
        auto set = parse_members();
        in_set_ = false;
        return set;
    }

    Result<Term> parse_members() {
        Term set{.kind = Term::Kind::Set, .argument = {}, .members = {}};
        if (take("}")) return set;
        while (true) {
            auto member = parse_term();
            if (!member) return member;
            set.members.push_back(std::move(*member));
            if (take("}")) return set;
            if (!take(",")) return error("expected ',' or '}'");
        }
    }

    Result<std::string> parse_argument(const std::string& word) {
        std::string role = take_word();
        if (role.empty()) return error(fmt::format("expected a role in {}(…)", word));
        if (!take(")")) return error("expected ')'");
        return role;
    }

    /// What stands between parentheses; a quoted text may hold any of them.
    Result<std::string> parse_raw_argument(const std::string& word) {
        if (!take("(")) return error(fmt::format("expected '(' after {}", word));
        const std::size_t begin = at_;
        char quote = 0;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (quote != 0) {
                if (c == quote) quote = 0;
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if (c == ')') {
                return std::string(text_.substr(begin, at_++ - begin));
            }
        }
        return error("expected ')'");
    }

    Result<Term> parse_event(const std::string& word) {
        const std::size_t begin = at_;
        const auto argument = parse_raw_argument(word);
        if (!argument) return tl::make_unexpected(argument.error());
        Term term{.argument = *argument, .members = {}};
        const auto keep = [&](auto query, Term::Kind kind) -> Result<Term> {
            if (!query) {
                at_ = begin;
                return error(query.error().message);
            }
            term.kind = kind;
            term.event = std::move(*query);
            return std::move(term);
        };
        if (word == "trace") return keep(parse_trace_query(*argument), Term::Kind::Traced);
        if (word == "log") return keep(parse_log_query(*argument), Term::Kind::Logged);
        return keep(parse_frame_query(*argument), word == "held" ? Term::Kind::Held : Term::Kind::Passed);
    }

    /// hw, leo, checkpoint, fenced, answered: of the leader unless a role is given.
    Result<Term> parse_role_term(const std::string& word) {
        constexpr std::pair<std::string_view, Term::Kind> kOfRole[] = {{"hw", Term::Kind::Hw},
                                                                       {"leo", Term::Kind::Leo},
                                                                       {"checkpoint", Term::Kind::Checkpoint},
                                                                       {"fenced", Term::Kind::Fenced},
                                                                       {"answered", Term::Kind::Answered}};
        Term term{.argument = "leader", .members = {}};
        for (const auto& [name, kind] : kOfRole) {
            if (word == name) term.kind = kind;
        }
        if (take("(")) {
            auto role = parse_argument(word);
            if (!role) return tl::make_unexpected(role.error());
            term.argument = *role;
        }
        return term;
    }

    Result<Term> parse_term() {
        if (take("{")) return parse_set();
        const std::size_t begin = at_;
        const std::string word = take_word();
        if (word.empty()) return error("expected a term");
        std::int64_t number = 0;
        const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (status == std::errc{} && end == word.data() + word.size()) {
            return Term{.kind = Term::Kind::Number, .number = number, .argument = {}, .members = {}};
        }
        constexpr std::pair<std::string_view, Term::Kind> kPlain[] = {
            {"isr", Term::Kind::Isr},     {"isr.size", Term::Kind::IsrSize}, {"leader", Term::Kind::Leader},
            {"epoch", Term::Kind::Epoch}, {"acked", Term::Kind::Acked},      {"none", Term::Kind::None},
            {"all", Term::Kind::All},     {"true", Term::Kind::True},        {"false", Term::Kind::False}};
        for (const auto& [name, kind] : kPlain) {
            if (word == name) return Term{.kind = kind, .argument = {}, .members = {}};
        }
        for (const std::string_view name : {"passed", "held", "trace", "log"}) {
            if (word == name) return parse_event(word);
        }
        for (const std::string_view name : {"hw", "leo", "checkpoint", "fenced", "answered"}) {
            if (word == name) return parse_role_term(word);
        }
        constexpr std::string_view kTarget = ".target";
        if (word.ends_with(kTarget) && word.size() > kTarget.size()) {
            return Term{.kind = Term::Kind::TargetOf,
                        .argument = word.substr(0, word.size() - kTarget.size()),
                        .members = {}};
        }
        if (word.starts_with("id:")) {
            return Term{.kind = Term::Kind::Id, .argument = word, .members = {}};
        }
        at_ = begin;
        skip_spaces();
        return error(fmt::format("'{}' is not known here", word));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool in_set_ = false;
};

Result<Condition> Condition::parse(std::string_view text) {
    Condition condition;
    condition.text_ = std::string(text);
    auto comparisons = Parser(condition.text_).parse();
    if (!comparisons) return tl::make_unexpected(comparisons.error());
    condition.comparisons_ = std::move(*comparisons);
    return condition;
}

bool Condition::holds(const ClusterFacts& facts, Instant since) const {
    bool all = true;
    // Every term is asked, also after a false one: who answers may count from the first question on.
    for (const Comparison& comparison : comparisons_) {
        const TermValue left = value_of(comparison.left, facts, since);
        const TermValue right = value_of(comparison.right, facts, since);
        all = compare(left, comparison.op, right) && all;
    }
    return all;
}

bool Condition::has_events() const {
    return std::any_of(comparisons_.begin(), comparisons_.end(), [](const Comparison& comparison) {
        return comparison.left.event.index() != 0 || comparison.right.event.index() != 0;
    });
}

std::vector<std::string> Condition::apis() const {
    std::vector<std::string> names;
    for (const Comparison& comparison : comparisons_) {
        for (const Term* term : {&comparison.left, &comparison.right}) {
            if (const auto* frames = std::get_if<FrameQuery>(&term->event)) names.push_back(frames->api);
        }
    }
    return names;
}

std::vector<std::string> Condition::fault_ids() const {
    std::vector<std::string> ids;
    for (const Comparison& comparison : comparisons_) {
        collect_fault_ids(comparison.left, ids);
        collect_fault_ids(comparison.right, ids);
    }
    return ids;
}

void Condition::collect_fault_ids(const Term& term, std::vector<std::string>& into) {
    if (term.kind == Term::Kind::TargetOf) into.push_back(term.argument);
    const auto from_role = [&into](const std::string& text) {
        if (const auto role = parse_role(text)) role->collect_fault_ids(into);
    };
    constexpr std::array kOfRole = {Term::Kind::Hw, Term::Kind::Leo, Term::Kind::Checkpoint,
                                    Term::Kind::Fenced, Term::Kind::Answered};
    if (std::find(kOfRole.begin(), kOfRole.end(), term.kind) != kOfRole.end()) from_role(term.argument);
    if (const auto* frames = std::get_if<FrameQuery>(&term.event)) {
        from_role(frames->source);
        from_role(frames->destination);
    }
    if (const auto* line = std::get_if<TraceQuery>(&term.event)) from_role(line->at);
    if (const auto* line = std::get_if<LogQuery>(&term.event)) from_role(line->role);
    for (const Term& member : term.members) collect_fault_ids(member, into);
}

namespace {

template <class T>
std::optional<std::int64_t> number_of(const std::optional<T>& value) {
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

}  // namespace

Condition::TermValue Condition::value_of(const Term& term, const ClusterFacts& facts, Instant since) {
    const auto known = [](const auto& value) -> TermValue {
        const auto number = number_of(value);
        return number ? TermValue(*number) : TermValue(std::monostate{});
    };
    const auto set_of = [](const std::vector<BrokerId>& ids) { return Set(ids.begin(), ids.end()); };
    switch (term.kind) {
        case Term::Kind::Isr: {
            const auto isr = facts.isr();
            return isr ? TermValue(set_of(*isr)) : TermValue(std::monostate{});
        }
        case Term::Kind::IsrSize: {
            const auto isr = facts.isr();
            return isr ? TermValue(static_cast<std::int64_t>(isr->size())) : TermValue(std::monostate{});
        }
        case Term::Kind::Leader:
            return known(facts.leader());
        case Term::Kind::Epoch:
            return known(facts.epoch());
        case Term::Kind::Acked:
            return facts.acked();
        case Term::Kind::None:
            return std::int64_t{kNoBroker};
        case Term::Kind::All:
            return set_of(facts.replicas());
        case Term::Kind::True:
            return std::int64_t{1};
        case Term::Kind::False:
            return std::int64_t{0};
        case Term::Kind::Number:
            return term.number;
        case Term::Kind::Hw:
        case Term::Kind::Leo:
        case Term::Kind::Fenced:
        case Term::Kind::Checkpoint:
        case Term::Kind::Answered:
        case Term::Kind::Id:
            return value_of_role(term, facts, since);
        case Term::Kind::Passed:
        case Term::Kind::Held:
        case Term::Kind::Traced:
        case Term::Kind::Logged:
            return value_of_event(term, facts, since);
        case Term::Kind::TargetOf: {
            const auto targets = facts.targets_of(term.argument);
            if (!targets || targets->empty()) return std::monostate{};
            if (targets->size() == 1) return std::int64_t{targets->front()};
            return set_of(*targets);
        }
        case Term::Kind::Set:
            return value_of_set(term, facts, since);
    }
    return std::monostate{};
}

Condition::TermValue Condition::value_of_role(const Term& term, const ClusterFacts& facts, Instant since) {
    const std::vector<BrokerId> brokers = facts.resolve(term.argument);
    if (brokers.empty()) return std::monostate{};
    const BrokerId first = brokers.front();
    std::optional<std::int64_t> value;
    if (term.kind == Term::Kind::Id) value = first;
    if (term.kind == Term::Kind::Hw) value = number_of(facts.high_watermark(first));
    if (term.kind == Term::Kind::Leo) value = number_of(facts.log_end_offset(first));
    if (term.kind == Term::Kind::Checkpoint) value = number_of(facts.checkpoint(first));
    if (term.kind == Term::Kind::Fenced) value = facts.fenced(first) ? 1 : 0;
    if (term.kind == Term::Kind::Answered) {
        value = 1;
        for (const BrokerId broker : brokers) {
            const auto answered = facts.answered(broker, since);
            if (!answered) return std::monostate{};
            if (!*answered) value = 0;
        }
    }
    return value ? TermValue(*value) : TermValue(std::monostate{});
}

Condition::TermValue Condition::value_of_event(const Term& term, const ClusterFacts& facts, Instant since) {
    std::optional<std::int64_t> count;
    if (const auto* frames = std::get_if<FrameQuery>(&term.event)) {
        count =
            term.kind == Term::Kind::Held ? facts.frames_held(*frames) : facts.frames_passed(*frames, since);
    }
    if (const auto* line = std::get_if<TraceQuery>(&term.event)) count = facts.trace_lines(*line, since);
    if (const auto* line = std::get_if<LogQuery>(&term.event)) count = facts.log_lines(*line, since);
    return count ? TermValue(*count) : TermValue(std::monostate{});
}

Condition::TermValue Condition::value_of_set(const Term& term, const ClusterFacts& facts, Instant since) {
    Set members;
    for (const Term& member : term.members) {
        const TermValue value = value_of(member, facts, since);
        if (const auto* id = std::get_if<std::int64_t>(&value)) {
            if (*id == kNoBroker) return std::monostate{};
            members.insert(static_cast<BrokerId>(*id));
        } else if (const auto* ids = std::get_if<Set>(&value)) {
            members.insert(ids->begin(), ids->end());
        } else {
            return std::monostate{};
        }
    }
    return members;
}

bool Condition::compare(const TermValue& left, Operator op, const TermValue& right) {
    if (std::holds_alternative<std::monostate>(left) || std::holds_alternative<std::monostate>(right))
        return false;
    if (const auto* set = std::get_if<Set>(&left)) {
        const auto* other = std::get_if<Set>(&right);
        if (op == Operator::Equal) return other != nullptr && *set == *other;
        return op == Operator::NotEqual && (other == nullptr || *set != *other);
    }
    const auto* number = std::get_if<std::int64_t>(&left);
    const auto* other = std::get_if<std::int64_t>(&right);
    if (other == nullptr) return op == Operator::NotEqual;
    switch (op) {
        case Operator::Equal:
            return *number == *other;
        case Operator::NotEqual:
            return *number != *other;
        case Operator::Less:
            return *number < *other;
        case Operator::LessEqual:
            return *number <= *other;
        case Operator::Greater:
            return *number > *other;
        case Operator::GreaterEqual:
            return *number >= *other;
    }
    return false;
}

}  // namespace highwater
