// RefusalBoard: why the nodes refuse pods of one shape, kept up to date by touched nodes only.
//
// Like a FitBoard, only for shapes whose verdict on a node depends on that node alone: of a thousand pods that wait in
// vain, few are of a shape of their own, and few nodes change between one and the next.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/fit_board.h"
#include "search/session.h"

namespace reprieve {

// Why a pod fits nowhere: reason -> number of nodes; `never` only if every node says never.
struct NodesRefusal {
    bool never = true;
    std::map<std::string, std::int64_t> nodes;
};

// What stands against a pod on this node: for good, later, or now.
[[nodiscard]] Answer answer_of(const Session& session,
                               const Candidate& candidate,
                               NodeId node,
                               const FactAnswers& facts);

class RefusalBoard {
public:
    RefusalBoard(const Session& session, PodId like, const FactAnswers& facts);

    [[nodiscard]] const NodesRefusal& refusal(const Session& session, PodId like, const FactAnswers& facts);

private:
    void count(const Answer& answer, std::int64_t sign);

    std::vector<Answer> answers_;  // by NodeId
    std::map<Answer, std::int64_t> counts_;
    std::int64_t not_never_ = 0;
    TouchLog::Moment seen_ = 0;
    std::vector<NodeId> touched_;
    std::optional<NodesRefusal> told_;
};

}  // namespace reprieve
