/**
 * How an object in a cluster does, from what it says itself, as kstatus and Argo CD judge it.
 * Read health.ts (the order of the rules), built-in.ts (what is known of kinds), runs.ts (of what runs to an end), and rules.ts: rules that users write in CEL.
 */
export { endsByGoing, healthOf, healthOfRun } from './health.ts'
export { type Allowance, type CompiledRules, type HealthRule, type HealthRules, healthRules, UNJUDGED } from './rules.ts'
export { type Health, type HealthStatus, worse } from './view.ts'
