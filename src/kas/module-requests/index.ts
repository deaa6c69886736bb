/**
 * Requests of an agent's modules to the side of kas. GitLab passes them on to its own server; here nobody is behind it, so each
 * is answered 404, which modules take for "nothing set up". GitLab's agent asks for scan policies every 30 seconds.
 */
export { createModuleRequestService } from './service.ts'
