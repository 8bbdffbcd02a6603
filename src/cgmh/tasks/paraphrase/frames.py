"""The tables of the phrasebook, continued: whole sentences, and what is less usual or less sure.

Lines are as in phrases.py. The first ``*`` of a phrase, X, and the second, Y, stand for one word or several, which
stay; ``Yo`` is Y with its verb as dictionaries have it (``Xo`` likewise), ``Ys`` in the third person, ``Yed`` in the
past.
"""

# Whole sentences and clauses with stars.
FRAMES = """
what is the difference between * and * ? > what is the difference between Y and X ?
what are the differences between * and * ? > what are the differences between Y and X ?
what are * in * ? > what are some X in Y ?
what are * for * ? > what are some X for Y ?
what are * about * ? > what are some X about Y ?
what are * to * ? > what are some X to Y ?
what are * of * ? > what are some X of Y ?
what are the different types of * ? > what types of * are there ? | what kinds of * are there ?
why does * * ? > why is it that X Ys ?
why did * * ? > why is it that X Yed ?
what are the main differences between * ? > what are the main ways in which * differ ?
how is * different from * ? > what is the difference between * and * ? | how does * differ from * ?
how are * different from * ? > how do * differ from * ? | what is the difference between * and * ?
how does * differ from * ? > how is * different from * ? | what is the difference between * and * ?
what does * mean ? > what is the meaning of * ?
what is the meaning of * ? > what does * mean ?
what is meant by * ? > what does * mean ?
what exactly is * ? > what is * exactly ?
what exactly are * ? > what are * exactly ?
why is * so * ? > what makes * so * ?
why are * so * ? > what makes * so * ? | why is it that * are so * ?
what makes * so * ? > why is * so * ?
why do * ? > why is it that * ? | what makes * ?
why does * ? > what makes * ?
why did * ? > what made * ?
why is * * ? > why is it that * is * ?
why are * * ? > why is it that * are * ?
why was * * ? > why is it that * was * ?
why were * * ? > why is it that * were * ?
why has * * ? > why is it that * has * ?
why have * * ? > why is it that * have * ?
why can * * ? > why is it that * can * ?
is it true that * is * ? > is * * ?
is it true that * are * ? > are * * ?
is it possible for * to * ? > can * * ?
do you think * will * ? > will * * ?
do you think * should * ? > should * * ?
when will * * ? > when is * going to * ?
what is the number of * in * ? > how many * are there in * ?
what is the population of * ? > how many people live in * ?
what happens if * ? > if * , what happens ?
what happens when * ? > when * , what happens ?
if X , Y ? > Y if X ?
how does * affect * ? > what effect does * have on * ? | what impact does * have on * ?
how do * affect * ? > what effect do * have on * ? | what impact do * have on * ?
how will * affect * ? > what effect will * have on * ? | what impact will * have on * ?
how would * affect * ? > what effect would * have on * ? | what impact would * have on * ?
how did * affect * ? > what effect did * have on * ? | what impact did * have on * ?
how has * affected * ? > what effect has * had on * ? | what impact has * had on * ?
how can * affect * ? > what effect can * have on * ?
how much does * cost ? > what is the cost of * ? | what does * cost ?
how much do * cost ? > what is the price of * ?
what is the cost of * ? > how much does * cost ?
what is the price of * ? > how much does * cost ?
what causes * ? > what is the cause of * ? | what are the causes of * ?
what are the causes of * ? > what causes * ?
what is the cause of * ? > what causes * ?
what caused * ? > what was the cause of * ?
what are the types of * ? > what types of * are there ? | what kinds of * are there ?
what types of * are there ? > what are the different types of * ?
what kinds of * are there ? > what are the different types of * ?
what is the future of * ? > what does the future hold for * ?
what is the salary of * ? > how much does * earn ?
what is your favorite * ? > which * is your favorite ? | which * do you like the most ?
what are your favorite * ? > which * do you like the most ?
who is your favorite * ? > which * is your favorite ? | which * do you like the most ?
which is the best * for * ? > which * is the best for * ?
which * is best for * ? > what is the best * for * ? | which is the best * for * ?
which * is the best for * ? > what is the best * for * ? | which is the best * for * ?
which * is best ? > what is the best * ? | which is the best * ?
which * is the best ? > what is the best * ? | which is the best * ?
what * is best for * ? > what is the best * for * ?
which * are the best ? > what are the best * ?
which * should i buy ? > what is the best * to buy ?
what are the reasons why * ? > why is it that * ?
what is the reason why * ? > why is it that * ?
what advice would you give to * ? > what advice do you have for * ?
what advice would you give * ? > what advice do you have for * ?
is it worth it to * ? > is it worthwhile to * ?
how can * online ? > how can * on the internet ?
how do * online ? > how do * on the internet ?
what is * known for ? > what is * famous for ?
what is * famous for ? > what is * known for ?
who won * ? > who was the winner of * ?
who invented * ? > who was the inventor of * ?
who created * ? > who was the creator of * ?
what will be the impact of * on * ? > how will * affect * ?
what will be the effect of * on * ? > how will * affect * ?
what is the impact of * on * ? > how does * affect * ?
what is the effect of * on * ? > how does * affect * ?
what are the effects of * on * ? > how does * affect * ?
what impact will * have on * ? > how will * affect * ?
how is it like to * ? > what is it like to * ?
how will * * ? > how is * going to * ?
who is going to * ? > who will Xo ?
from where do * ? > where do * from ?
how is * going to * ? > how will X Yo ?
how are * going to * ? > how will X Yo ?
when is * going to * ? > when will X Yo ?
when are * going to * ? > when will X Yo ?
is * going to * ? > will X Yo ?
are * going to * ? > will X Yo ?
what is the * going to * ? > what will the X Yo ?
when do you think * will * ? > in your opinion , when will * * ?
is it true that * can * ? > can * * ?
is it true that * will * ? > will * * ?
is it true that * was * ? > was * * ?
is it true that * has * ? > has * * ?
does * really * ? > does * actually * ?
do * really * ? > do * actually * ?
did * really * ? > did * actually * ?
can * really * ? > can * actually * ?
does * actually * ? > does * really * ?
do * actually * ? > do * really * ?
did * actually * ? > did * really * ?
is * really * ? > is * actually * ?
are * really * ? > are * actually * ?
what differentiates * from * ? > how is * different from * ? | what makes * different from * ?
what makes * different from * ? > how is * different from * ? | how does * differ from * ?
what effect will * have on * ? > how will * affect * ?
what effect does * have on * ? > how does * affect * ?
what effect do * have on * ? > how do * affect * ?
what effect did * have on * ? > how did * affect * ?
what effect would * have on * ? > how would * affect * ?
what impact does * have on * ? > how does * affect * ?
what impact do * have on * ? > how do * affect * ?
what impact would * have on * ? > how would * affect * ?
what impact did * have on * ? > how did * affect * ?
what * should i * ? > which * should i * ?
what * should we * ? > which * should we * ?
what * should one * ? > which * should one * ?
what * can i * ? > which * can i * ?
who wrote * ? > who is the author of * ?
who is the author of * ? > who wrote * ?
who founded * ? > who was the founder of * ?
who was the founder of * ? > who founded * ?
when did * start ? > when did * begin ?
what keeps * from * ? > what prevents * from * ? | what stops * from * ?
what stops * from * ? > what prevents * from * ? | what keeps * from * ?
what prevents * from * ? > what stops * from * ? | what keeps * from * ?
how * is different from * ? > how is * different from * ?
how * are different from * ? > how are * different from * ?
"""

# Openings and frames that are as right, but that people use less in place of one another.
LESS_USUAL = """
what is it like > what does it feel like
what is the best way to > how can i | how do i | how do you
how can i / how do i / how should i / how could i > what can i do to
how do i > how can i
how do you > how can you | how can one | how does one
how does one > how can one
how can you > how can one
how do we > how can we
how can we / how do we > what can we do to
what are the best / which are the best > what are some of the best
what are the most / which are the most > what are some of the most
is there a > is there any
could * * ? > do you think * could * ?
will * * ? > do you think * will * ?
would * * ? > do you think * would * ?
should * * ? > do you think * should * ?
should i > do you think i should
should we > do you think we should
what is the best / which is the best > what do you think is the best
what is the most / which is the most > what do you think is the most
who is the best > who do you think is the best
who is the most > who do you think is the most
who would > who do you think would
who will > who do you think will
who should > who do you think should
what would happen > what do you think would happen
where can i find > where is the best place to find | where do i find
where can i buy > where is the best place to buy | where do i buy
where can i get > where is the best place to get | where do i get
where can i learn > what is the best place to learn
what is a good > can you recommend a good
what are some good / what are good / what are some great > can you recommend some good
what are some examples of / what are examples of > can you give me some examples of | can you give examples of
what is the best way to | what are the best ways to
can i > is it possible to
can we > is it possible to
can one / can you > is it possible to
where can i | where could i
what are some tips > do you have any tips | what are a few tips
why do so many people > why is it that so many people
what is the difference between * and * ? > how does * differ from * ? | how is * different from * ?
what are the differences between * and * ? > how do * and * differ ?
what is the difference between * ? > how do * differ ?
should * be * ? > do you think that * should be * ?
what are the steps to * ? > what steps should i take to * ?
what is the purpose of | what is the point of
do i need to | do i have to
are you a fan of > do you like
what * do you * ? > which * do you * ?
who will > who is going to
will * * ? > is * going to * ?
who was the best > who do you think was the best
who was the greatest > who do you think was the greatest
what * did you * ? > which * did you * ?
what * have you * ? > which * have you * ?
is it safe > would it be safe
is it wise > would it be wise
is it better > would it be better
is it good > would it be good
is it bad > would it be bad
is it okay > would it be okay
is it ok > would it be ok
is it moral > would it be moral
is it wrong > would it be wrong
is it smart > would it be smart
is it ethical > would it be ethical
is it advisable > would it be advisable
is it worth > would it be worth
is it a good idea > would it be a good idea
which is better , * or * ? > is * better than * ?
which one is better , * or * ? > is * better than * ?
are there any good > do you know of any good
are there any other > do you know of any other
are there any free > do you know of any free
"""

# The same, where the question may turn a little: taken where nothing better is found.
TURNED = """
does * * ? > is it true that X Ys ?
did * * ? > is it true that X Yed ?
can * * ? > is it possible for * to * ?
is * * ? > is it true that * is * ?
are * * ? > is it true that * are * ?
was * * ? > is it true that * was * ?
were * * ? > is it true that * were * ?
has * * ? > is it true that * has * ?
have * * ? > is it true that * have * ?
do * ? > is it true that * ?
why would * * ? > why is it that * would * ?
why should * * ? > why is it that * should * ?
what is X ? > what exactly is X ? | what is X exactly ?
what is a > what is meant by a
what is an > what is meant by an
what are the > what are some of the
what were the > what were some of the
who are the > who are some of the
who were the > who were some of the
is * better than * ? > which is better , * or * ?
what are X ? > what exactly are X ? | what are X exactly ?
what does X ? > what exactly does X ? | what does X exactly ?
what do X ? > what exactly do X ? | what do X exactly ?
what did X ? > what exactly did X ? | what did X exactly ?
why does X ? > why exactly does X ?
why did X ? > why exactly did X ?
why is X ? > why exactly is X ?
why are X ? > why exactly are X ?
how does X ? > how exactly does X ? | how does X exactly ?
how do X ? > how exactly do X ? | how do X exactly ?
how did X ? > how exactly did X ?
how is X ? > how exactly is X ?
how are X ? > how exactly are X ?
where is X ? > where exactly is X ?
where are X ? > where exactly are X ?
where do X ? > where exactly do X ?
where does X ? > where exactly does X ?
when did X ? > when exactly did X ?
when does X ? > when exactly does X ?
when will X ? > when exactly will X ?
who is X ? > who exactly is X ? | who is X exactly ?
who are X ? > who exactly are X ? | who are X exactly ?
what was X ? > what exactly was X ? | what was X exactly ?
how will X ? > how exactly will X ?
how can X ? > how exactly can X ?
how would X ? > how exactly would X ?
how should X ? > how exactly should X ?
what should X ? > what exactly should X ?
what would X ? > what exactly would X ?
what will X ? > what exactly will X ?
where did X ? > where exactly did X ?
where was X ? > where exactly was X ?
who was X ? > who exactly was X ?
"""
