/** A plan as lines that a person reads. */
import type { Plan, PlanEvent, PlannedMutation } from './plan.ts';

/** First what the plan is, then an event a line. */
export function planLines(plan: Plan): readonly string[] {
  const { stores, serverOffsetMs, earlierLife, keep, calm, acknowledged, events } = plan;
  const network = calm ? 'a calm network' : `the network of seed ${plan.seed}`;
  return [
    `${stores.length} stores, ${network}, server clock ${seconds(serverOffsetMs)} off,` +
      ` ${keep} checkpoints kept, at least ${acknowledged} acknowledged writes` +
      `${earlierLife ? ', a world lived there before' : ''}`,
    ...stores.map(({ inlineBytes, batchMax, compact, idleLimit, wallOffsetMs }, index) => {
      const clock = `wall clock ${seconds(wallOffsetMs)} off`;
      const compacts = compact ? ', compacts in the background' : '';
      const patience = idleLimit ? '' : ', waits for reads that stall';
      return (
        `s${index}: inlines ${inlineBytes} bytes, batches of ${batchMax}, ${clock}${compacts}` +
        patience
      );
    }),
    ...events.map((event) => `${seconds(event.at).padStart(11)}  s${event.store} ${words(event)}`),
  ];
}

function words(event: PlanEvent): string {
  switch (event.kind) {
    case 'write': {
      const twin = event.twin === null ? '' : `, and to s${event.twin} at once`;
      const all = event.mutations.map(mutationWords).join(' + ');
      return `${all}, within ${seconds(event.deadlineMs)}${twin}`;
    }
    case 'view':
      return `reads ${event.reads.map(({ what, path }) => `${what} ${path}`).join(', ')}`;
    case 'crash': {
      const again = event.again === null ? '' : `, and again at ${event.again}`;
      return `crashes${aim(event.on)}, starts after ${seconds(event.restartMs)}${again}`;
    }
    case 'pause': {
      const { ms, hidden, frozen, on } = event;
      const seen = { true: ' unseen by both clocks', monotonic: ' unseen by the monotonic clock' };
      const which = hidden === false ? '' : seen[`${hidden}`];
      const buffers = frozen ? ', its requests with it' : '';
      return `pauses for ${seconds(ms)}${aim(on)}${which}${buffers}`;
    }
    case 'jump':
      return `wall clock jumps by ${seconds(event.ms)}`;
    case 'sweep': {
      const parts = [event.checkpoint ? 'writes a checkpoint' : null, event.control, 'removes'];
      return `sweeps: ${parts.filter((part) => part !== null).join(', ')}`;
    }
    case 'compact':
      return 'compacts';
    case 'damage': {
      const { what, how, ms } = event;
      return `finds a ${what} of the newest checkpoint ${how} for ${seconds(ms)}`;
    }
    default:
      return event satisfies never;
  }
}

function mutationWords({ kind, path, expected, requires }: PlannedMutation): string {
  const required = requires === null ? '' : ` if ${requires} is as known`;
  return `${kind} ${path} (${expected})${required}`;
}

function aim(on: string | null): string {
  return on === null ? '' : ` at the next ${on}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}
