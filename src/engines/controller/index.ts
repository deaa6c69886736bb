/**
 * The loop that every controller runs in: queue, reconcile, one status write, retries, leader election.
 * It knows no kind of ours. A controller is data (`Controller`) and one function (`Reconcile`).
 * Read reconcile.ts first, then loop.ts (the story), retry-policy.ts, wakeups.ts, run.ts, leader.ts, kinds.ts, meters.ts.
 */
export { failedStatus } from './failed-status.ts'
export { requireKinds } from './kinds.ts'
export { type Candidate, type LeaderMeter, leadInTurns } from './leader.ts'
export { type LoopMeter, type ReconcileOutcome, sentenceOf } from './loop.ts'
export { leaderMeter, loopMeter, requestMeter } from './meters.ts'
export { wakeByChanges } from './paced.ts'
export {
  again,
  type Controller,
  type ControllerContext,
  type Next,
  type Reconcile,
  type StatusDraft,
  settled,
  type Watch,
} from './reconcile.ts'
export { runControllers } from './run.ts'
export { createWakeups, type Waker, type Wakeups } from './wakeups.ts'
