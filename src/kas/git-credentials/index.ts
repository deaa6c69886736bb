/**
 * Git credentials for the pods of workspaces. A pod shows the token of its service account, which is made for nothing else; what it
 * gets is for one repository, as long as the workspace lives and its owner develops the project. It asks with Git itself.
 * Not here: the helper in the pod (operator/workspace/git). Read answer.ts (the story), then ../pod-proof.ts (whose token it is)
 * and advertisement.ts (the form of the answer).
 */
export { serveGitCredentials } from './answer.ts'
