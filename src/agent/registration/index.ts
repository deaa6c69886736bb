/**
 * Tells kas every five minutes that this pod is there, with which version of Kubernetes it lives. All replicas do, whether they
 * lead or not; nothing in the agent depends on the answer.
 */
export { register } from './register.ts'
