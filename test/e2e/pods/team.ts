import { AGENT_CONFIGURATION, application } from './application.ts'
import { type Site, serveGit } from './site.ts'

/** Installs Berth, and lets `team-a` in: with a claimed namespace, where what was pushed says this word, a workspace, and a project for an agent. */
export async function installWithTeam(site: Site, word: string): Promise<void> {
  await serveGit(site)
  await site.install()
  await site.berth('onboard', 'team-a', '--berth-namespace', site.namespace)
  await site.push('web', application(word))
  await site.push('config', { '.berth/agents/dev/config.yaml': AGENT_CONFIGURATION })
  await site.applyFile('team.yaml')
  await site.applyFile('workspace.yaml')
}
