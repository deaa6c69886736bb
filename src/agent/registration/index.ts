/** Tells kas that this pod is there. */
export { register } from './register.ts'
