// Commands inside a sentence, said as what the console offers. A cluster in memory is reached by its console alone: a command would
// go to the cluster of the reader's kubeconfig.

const offered: Readonly<Record<string, string>> = {
  ...{ approve: 'Approve', resume: 'Resume', retry: 'Retry', release: 'Release', hold: 'Hold', skip: 'Skip' },
  ...{ pause: 'Pause', cancel: 'Cancel', 'run-now': 'Run now', 'start --all': 'Go on', 'stop --all': 'Emergency stop' },
  ...{ why: 'Why', status: 'Update', logs: 'Steps and log' },
}

/** A name is told from a word that goes on with the sentence by a capital, a digit, a hyphen, or by ending its part of it. */
const named = String.raw`(?:[A-Z]+\b|(?=[a-z0-9.-]*[0-9-])[a-z0-9][a-z0-9.-]*[a-z0-9]|[a-z0-9]+(?=$|[;,:.)]| -w))`
const command = new RegExp(
  String.raw`(?:\brun:? )?\bslipway (${Object.keys(offered).join('|')})\b(?: --profile \S+)?(?: ${named})*(?: -w)?(?: --reason \S+)?`,
  'g',
)

/** `where` is said behind each, as ` in the console`. */
export function asOffered(sentence: string, where = ''): string {
  return sentence.replaceAll(command, (_, verb: string) => `${offered[verb]}${where}`)
}
