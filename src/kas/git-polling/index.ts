/**
 * Watching repositories: one poll for each repository, ref and credential serves everybody who follows it; before each poll
 * every follower has to prove its right again; a failing repository waits longer, alone. The files of a new commit are fetched
 * when the first stream wants them, once. Who may follow is decided in authorization/. Read poll.ts first, then polls.ts.
 */
export { createCredentials } from './credentials.ts'
export { createPolls, pokeByAnnotation } from './polls.ts'
export type { LastServed } from './verification.ts'
