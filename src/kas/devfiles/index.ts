/**
 * Devfiles from web servers, for parents that lie there: only from hosts that the administrator has listed, only over https, within
 * limits of size and time, and only for the operator. Nobody else opens a connection that a devfile names. Read fetch.ts (how
 * it gets there), then service.ts (who may ask); where it may go is in engines/devfiles/hosts.ts.
 */

export { createDevfileFetcher, type FetchDevfile } from './fetch.ts'
export { createDevfileService } from './service.ts'
