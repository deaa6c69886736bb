/**
 * Who may reach which port of which workspace: one function that decides for every request, every upgrade and every stream that is
 * open already, whichever program asks. It is pure: what it decides by is handed in, the time too, so a decision is right as long
 * as its inputs are. Not here: who somebody is (adapters/auth), and how traffic is passed on. Read judge.ts, then premises.ts.
 */
export { type Judgement, judge, type Person, type Refusal } from './judge.ts'
export { type Premises, type PublishedPort, premisesOf, type Share } from './premises.ts'
export type { Visibility } from './visibility.ts'
