/**
 * Which host leads to which port of which workspace, and where that answers: by watching Workspaces and their Services. Not here:
 * whether somebody may. Read house.ts (what is known of one workspace), then routes.ts (the table).
 */
export { discover } from './routes.ts'
