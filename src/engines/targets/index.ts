/**
 * Clusters that are somebody's targets, as every program gets into them: which Secret holds the credentials of a target and whether
 * they can be used (credentials.ts), a client made from them (connect.ts), and a look at whether the API answers, with the words for
 * an answer that was not one (probe.ts). What becomes of it is for each controller to say.
 * Not here: which target a claim gets (operator/deployment-target-claim/binding).
 */
export { credentialsForEnvironment, credentialsForTarget, openTarget, type TargetCredentials, withTarget } from './connect.ts'
export { type CheckKubeconfig, createKubeconfigCheck, credentialsFinder, watchCredentials } from './credentials.ts'
export {
  askTarget,
  noKubernetes,
  type ProbeOptions,
  type ProbeTrouble,
  RENEW_TOKEN,
  troubleOf,
  waitAfterFailure,
} from './probe.ts'
