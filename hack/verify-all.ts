/** Runs every hack/verify-*.ts and reports all failures, not only the first. */
import { runScripts } from './scripts.ts'

process.exitCode = await runScripts('verify')
