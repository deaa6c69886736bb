/**
 * When somebody last used a workspace, told to the Workspace at most once a minute: that is what stops idle ones. Requests are use,
 * and so is what somebody sends on a connection that was upgraded. Read activity.ts.
 */
export { type Activity, createActivity } from './activity.ts'
