/**
 * Decides who may reach which port of which workspace: one function for every request, every upgrade and every stream that is
 * open already, whichever program asks. It is pure: what it decides by is handed in, the time too, so a decision is right as long
 * as its inputs are. Not here: who somebody is (adapters/auth), and how traffic is passed on. Read judge.ts, then rules.ts.
 */
export { type Judgement, judgeAccess, type Person, type Way } from './judge.ts'
export { type AccessRules, accessRulesOf, type WorkspaceShare } from './rules.ts'
