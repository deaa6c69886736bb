/**
 * The button on the page of a workspace that is stopped. Read start.ts.
 */
export { createStartDoor } from './start.ts'
