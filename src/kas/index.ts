/**
 * kas: the only holder of Git credentials. It knows the GitProjects, polls their repositories while somebody follows them,
 * checks before each poll whether each follower may still read, and streams the files of new commits to agents and the operator.
 * It applies nothing to any cluster. Read program.ts (who is wired to whom), ports/ (what rooms know of each other), then
 * authorization/, git-polling/ and object-stream/. On projects/ and tokens/ the others stand.
 */
export { type KasConfig, parseConfig, SETTINGS } from './config.ts'
export { devfileFetcherOf, type KasAddresses, type KasSurroundings, start } from './program.ts'
